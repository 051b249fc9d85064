// Tools that connect points of two bodies: joints, and springs, cables and cylinders.

import { signal } from "@preact/signals";
import type { Signal } from "@preact/signals";
import type { IconName } from "../icons.tsx";
import { axisOf, endOf, pointAt, targetText, tidy, workPlane } from "../picking.ts";
import type { Target } from "../picking.ts";
import type { End, Vec3 } from "../protocol.ts";
import { order } from "../socket.ts";
import { choose, scene, tell } from "../state.ts";
import { kindText, spoken } from "../words.ts";
import { Choice, Flag, OptionalField } from "./settings.tsx";
import type { At, Preview, Tool } from "./tool.ts";
import { NOTHING, tools } from "./tool.ts";

const first = signal<Target | null>(null);
const snap = signal(true);
const axis = signal("across the picture");
const AXES: Record<string, Vec3> = {
    "x (to the right)": [1, 0, 0],
    "y (front to back)": [0, 1, 0],
    "z (up)": [0, 0, 1],
};

/** The point under the pointer; at the second click, not of the body that was clicked first. */
const targetAt = ({ stage, x, y }: At): Target | null => pointAt(stage, x, y, first.value?.body ?? -1);

const onGround = (target: Target, at: At): End => ({ body: "ground", point: tidy(at.stage, currentPlace(target, at)) });
const currentPlace = (target: Target, { stage }: At): Vec3 => stage.poses.place(target.body, target.point);

/** Two clicks: a point of a body, then a point of another one, or nothing for the ground. */
function twoClicks(join: (one: Target, two: End, at: At) => void): Pick<Tool, "click" | "hover" | "back" | "points"> {
    return {
        points: true,
        back: () => {
            const had = first.value !== null;
            first.value = null;
            return had;
        },
        click: (at) => {
            const found = targetAt(at);
            const one = first.value;
            if (!one) {
                if (found) first.value = found;
                else tell("There is nothing there: click a body, or one of the points on it.", true);
                return;
            }
            const ground = at.stage.poses.count;
            if (!found && one.body === ground) {
                tell("One end is on the ground already: click a point of a body.", true);
                return;
            }
            first.value = null;
            join(one, found ? endOf(found) : onGround(one, at), at);
        },
        hover: (at): Preview => {
            const found = targetAt(at);
            const one = first.value;
            at.stage.tip = found ? targetText(found) : one ? "the ground, here" : "";
            const marks = found ? [{ place: found.place, kind: "hover" as const }] : [];
            if (!one) return found ? { marks, lines: [] } : NOTHING;
            const place = currentPlace(one, at);
            return { marks: [...marks, { place, kind: "picked" }], lines: found ? [[place, found.place]] : [] };
        },
    };
}

const next = (kind = "") =>
    first.value
        ? `from ${targetText(first.value)}: click a point of another body, or beside all bodies to hold it to the ground`
        : `${kind && `${kind}; `}click a point of a body`;

function joint(
    id: string,
    label: string,
    icon: IconName,
    kind: () => string,
    key?: string,
    more?: () => preact.ComponentChildren,
): Tool {
    return {
        id,
        label,
        icon,
        key,
        hint: () => next(),
        settings: () => (
            <>
                {more?.()}
                <Choice label="axis" value={axis} options={["across the picture", ...Object.keys(AXES)]} />
                <Flag label="Bring the bodies together at once" value={snap} />
                <p class="quiet">A click beside all bodies holds the first point to the ground where it is.</p>
            </>
        ),
        ...twoClicks((one, two, at) => {
            const way = AXES[axis.value] ?? axisOf(workPlane(at.stage).normal);
            void order("join", {
                kind: kind(),
                first: endOf(one),
                second: two,
                axis: slides.has(kind()) && !AXES[axis.value] ? across(at) : way,
                snap: snap.value,
            }).then((answer) => {
                const name = answer.result?.result;
                if (answer.ok && typeof name === "string") choose({ table: "joints", name });
            });
        }),
    };
}

const slides = new Set(["Prismatic", "Cylindrical"]);

/** The world axis to the right of the picture, along which a slider runs unless another one is chosen. */
const across = ({ stage }: At): Vec3 => {
    const [right] = stage.camera.axes;
    const k = [0, 1, 2].reduce((best, n) => (Math.abs(right[n]) > Math.abs(right[best]) ? n : best), 0);
    return [0, 1, 2].map((n) => (n === k ? 1 : 0)) as Vec3;
};

const other = signal("Universal");

tools.push(
    joint("hinge", "Hinge", "hinge", () => "Revolute", "h"),
    joint("slider", "Slider", "slider", () => "Prismatic", "l"),
    joint("ball", "Ball joint", "ball", () => "Spherical"),
    joint("weld", "Weld", "weld", () => "Fixed", "w"),
    joint(
        "joint",
        "Another joint",
        "joint",
        () => other.value,
        undefined,
        () => <Choice label="kind" value={other} options={scene.value?.joint_kinds ?? []} text={kindText} />,
    ),
);

// Springs, cables, cylinders

const numbers: Record<string, Signal<number | null>> = {};
const UNITS: Record<string, string> = {
    stiffness: "N/m",
    damping: "N s/m",
    rest_length: "m",
    length: "m",
    stroke: "m",
    force: "N",
    bore: "m",
    rod: "m",
    cap_pressure: "Pa",
    restitution: "",
};

function numbersOf(kind: string): [string, Signal<number | null>][] {
    const found = scene.value?.force_kinds.find((one) => one.kind === kind)?.numbers ?? [];
    return found.map(([name, usual]) => [name, (numbers[`${kind} ${name}`] ??= signal<number | null>(usual))]);
}

function force(id: string, label: string, icon: IconName, kinds: () => string[], key?: string): Tool {
    const kind = signal("");
    const now = () => (kinds().includes(kind.value) ? kind.value : (kinds()[0] ?? ""));
    return {
        id,
        label,
        icon,
        key,
        hint: () => next(now()),
        settings: () => {
            if (kind.value !== now()) kind.value = now();
            return (
                <>
                    <Choice label="kind" value={kind} options={kinds()} />
                    {numbersOf(now()).map(([name, value]) => (
                        <OptionalField
                            key={`${now()} ${name}`}
                            label={spoken(name)}
                            value={value}
                            unit={UNITS[name]}
                            hint="Empty: by the distance as it is now."
                        />
                    ))}
                </>
            );
        },
        ...twoClicks((one, two) => {
            const given = Object.fromEntries(
                numbersOf(now()).flatMap(([name, { value }]) => (value === null ? [] : [[name, value]])),
            );
            void order("join", { kind: now(), first: endOf(one), second: two, ...given }).then((answer) => {
                const name = answer.result?.result;
                if (answer.ok && typeof name === "string")
                    choose({ table: now() === "cable" ? "constraints" : "forces", name });
            });
        }),
    };
}

const all = () => scene.value?.force_kinds.map((one) => one.kind) ?? [];
tools.push(
    force(
        "spring",
        "Spring or cylinder",
        "spring",
        () => all().filter((kind) => kind !== "cable" && kind !== "string"),
        "k",
    ),
    force("cable", "Cable or string", "cable", () => all().filter((kind) => kind === "cable" || kind === "string")),
);
