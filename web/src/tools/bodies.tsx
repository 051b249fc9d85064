// Tools that add bodies: a rod between two points; a box, plate, wheel or mesh at a point.

import { signal } from "@preact/signals";
import { look } from "../look.ts";
import { distance, fromZ, product } from "../maths.ts";
import { axisOf, endOf, markerAt, planeAt, tidy, workPlane } from "../picking.ts";
import type { Target } from "../picking.ts";
import type { End, Quat, Vec3 } from "../protocol.ts";
import { ask, order } from "../socket.ts";
import { choose, scene, tell } from "../state.ts";
import { lengthText, spoken } from "../words.ts";
import { Flag, NumberField, TextField } from "./settings.tsx";
import type { At, Tool } from "./tool.ts";
import { NOTHING, tools } from "./tool.ts";

/** Where a click draws: at a point of a body, or in the plane. */
type Spot = { place: Vec3; target: Target | null };

function spotAt({ stage, x, y, shift }: At): Spot | null {
    const target = markerAt(stage, x, y);
    if (target) return { place: target.place, target };
    const place = planeAt(stage, stage.plane ?? workPlane(stage), x, y, look.peek().snap !== shift);
    return place && { place, target: null };
}

const begin = (stage: At["stage"]) => stage.drawIn(workPlane(stage));
const end = (stage: At["stage"]) => stage.drawIn(null);

const mass = signal(1);
const width = signal(0.05);
const hinges = signal(true);
const first = signal<Spot | null>(null);

async function drawRod(at: At, a: Spot, b: Spot): Promise<void> {
    const { stage } = at;
    if (distance(a.place, b.place) < 1e-6 * stage.size) {
        tell("Both ends of the rod are at the same point.", true);
        return;
    }
    const normal = (stage.plane ?? workPlane(stage)).normal;
    const start = tidy(stage, a.place);
    const finish = tidy(stage, b.place);
    const axis = axisOf(normal);
    const answer = await order("rod", {
        start,
        end: finish,
        width: Math.min(width.value, 0.25 * distance(start, finish)),
        mass: mass.value,
        hinges: hinges.value
            ? [a, b].flatMap(({ target }, k): [0 | 1, End, Vec3][] =>
                  target ? [[k as 0 | 1, endOf(target), axis]] : [],
              )
            : [],
    });
    const name = answer.result?.result;
    if (!answer.ok || typeof name !== "string") return;
    choose({ table: "bodies", name });
}

tools.push({
    id: "rod",
    label: "Rod between two points",
    icon: "rod",
    key: "r",
    points: true,
    plane: true,
    hint: () =>
        first.value ? "click where the rod ends" : "click where the rod begins: on the grid, or at a point of a body",
    settings: () => (
        <>
            <NumberField label="width" value={width} unit="m" least={1e-6} />
            <NumberField label="mass" value={mass} unit="kg" least={0} />
            <Flag label="Hinges where it meets other bodies" value={hinges} />
        </>
    ),
    begin: (stage) => {
        const size = scene.peek()?.size ?? 1;
        if (width.value > 0.2 * size || width.value < 0.005 * size) width.value = Number((0.04 * size).toPrecision(1));
        begin(stage);
    },
    end,
    back: () => {
        const had = first.value !== null;
        first.value = null;
        return had;
    },
    click: (at) => {
        const spot = spotAt(at);
        if (!spot) return;
        const from = first.value;
        first.value = from ? null : spot;
        if (from) void drawRod(at, from, spot);
    },
    hover: (at) => {
        const spot = spotAt(at);
        const from = first.value;
        if (!spot) return from ? { marks: [{ place: from.place, kind: "picked" }], lines: [] } : NOTHING;
        if (!from) return { marks: [{ place: spot.place, kind: "hover" }], lines: [] };
        at.stage.tip = lengthText(distance(from.place, spot.place));
        return {
            marks: [
                { place: from.place, kind: "picked" },
                { place: spot.place, kind: "hover" },
            ],
            lines: [[from.place, spot.place]],
        };
    },
});

// Shapes at a point

const sizes: Record<string, ReturnType<typeof signal<number>>[]> = {};
const file = signal("");
const name = signal("");

function sizesOf(kind: string): { label: string; value: ReturnType<typeof signal<number>> }[] {
    const piece = scene.value?.palette.find((one) => one.kind === kind);
    if (!piece) return [];
    sizes[kind] ??= piece.sizes.map(([, usual]) => signal<number>(usual));
    return piece.sizes.map(([label], k) => ({ label, value: sizes[kind][k] }));
}

/** Wheels and plates are drawn with their axis across the plane; palettes have it along y, plates along z. */
function turnFor(kind: string, normal: Vec3): Quat {
    if (kind === "wheel") return product(fromZ(normal), [Math.SQRT1_2, Math.SQRT1_2, 0, 0]);
    return [1, 0, 0, 0];
}

function shape(kind: "box" | "plate" | "wheel" | "mesh", label: string, key?: string): Tool {
    return {
        id: kind,
        label,
        icon: kind,
        key,
        plane: true,
        points: true,
        begin,
        end,
        hint: () =>
            kind === "mesh" && !file.value
                ? "name a mesh file at the right, then click where it goes"
                : `click where the middle of the ${kind} goes`,
        settings: () => (
            <>
                {kind === "mesh" && <TextField label="file" value={file} hint="STL, OBJ or PLY" />}
                {sizesOf(kind).map((one) => (
                    <NumberField
                        key={one.label}
                        label={spoken(one.label)}
                        value={one.value as never}
                        unit={kind === "mesh" ? "" : "m"}
                        least={1e-6}
                    />
                ))}
                <NumberField label="mass" value={mass} unit="kg" least={0} />
                <TextField label="name" value={name} hint={`${kind}1, ${kind}2, …`} />
            </>
        ),
        click: (at) => {
            const spot = spotAt(at);
            if (!spot) return;
            const { stage } = at;
            const normal = (stage.plane ?? workPlane(stage)).normal;
            void ask("add_body", {
                kind,
                size: sizesOf(kind).map((one) => one.value.value ?? 1),
                mass: mass.value,
                position: tidy(stage, spot.place),
                rotation: turnFor(kind, normal),
                ...(name.value.trim() ? { name: name.value.trim() } : {}),
                ...(kind === "mesh" ? { file: file.value.trim() } : {}),
            }).then((answer) => {
                if (!answer.ok) tell(answer.text || answer.error?.message || "", true);
                else if (typeof answer.result?.result === "string")
                    choose({ table: "bodies", name: answer.result.result });
                name.value = "";
            });
        },
        hover: (at) => {
            const spot = spotAt(at);
            return spot ? { marks: [{ place: spot.place, kind: "hover" }], lines: [] } : NOTHING;
        },
    };
}

tools.push(
    shape("box", "Box", "b"),
    shape("plate", "Plate"),
    shape("wheel", "Wheel", "o"),
    shape("mesh", "Mesh from a file"),
);
