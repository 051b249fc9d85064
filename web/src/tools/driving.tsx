// Tools that act on joints and bodies by one click, or couple two of them: motors, nails, gears, belts, contacts, sensors.

import { signal } from "@preact/signals";
import type { IconName } from "../icons.tsx";
import { elementAt, jointAt, jointPlace, pointAt, targetText } from "../picking.ts";
import type { Target } from "../picking.ts";
import type { Joint } from "../protocol.ts";
import { order } from "../socket.ts";
import { choose, scene, tell } from "../state.ts";
import { Choice, NumberField } from "./settings.tsx";
import type { Tool } from "./tool.ts";
import { NOTHING, tools } from "./tool.ts";

const rate = signal(1);
const moves = (joint: Joint) => !["Fixed", "Free"].includes(joint.kind);

tools.push({
    id: "nail",
    label: "Nail a body to the ground, or free it",
    icon: "nail",
    key: "n",
    hint: () => "click a body to hold it where it is, as a part of the mechanism; click it again to free it",
    click: ({ stage, x, y }) => {
        const found = elementAt(stage, x, y);
        if (!found || found.body < 0 || found.body >= stage.poses.count) {
            tell("Click a body that moves.", true);
            return;
        }
        const body = scene.peek()!.carriers[found.body];
        void order(isNailed(body) ? "free" : "nail", { body });
    },
    hover: ({ stage, x, y }) => {
        const found = elementAt(stage, x, y);
        stage.tip = found && found.body >= 0 ? scene.peek()!.carriers[found.body] : "";
        return NOTHING;
    },
});

/** Whether a weld to the ground holds a body, as a nail does. */
export function isNailed(body: string): boolean {
    const { joints = [], carriers = [] } = scene.peek() ?? {};
    const ground = carriers.length - 1;
    const index = carriers.indexOf(body);
    return joints.some(
        ({ kind, carriers: [a, b] }) =>
            kind === "Fixed" && ((a === ground && b === index) || (b === ground && a === index)),
    );
}

tools.push({
    id: "motor",
    label: "Motor on a joint",
    icon: "motor",
    key: "m",
    hint: () => `click a hinge or slider; it is driven at ${rate.value} rad/s or m/s`,
    settings: () => <NumberField label="rate" value={rate} unit="/s" hint="rad/s of a hinge, m/s of a slider" />,
    click: ({ stage, x, y }) => {
        const joint = jointAt(stage, x, y, moves);
        if (!joint) {
            tell("There is no joint there that moves.", true);
            return;
        }
        void order("motor", { joint: joint.name, velocity: rate.value }).then((answer) => {
            if (answer.ok && typeof answer.result?.result === "string")
                choose({ table: "drives", name: answer.result.result });
        });
    },
    hover: ({ stage, x, y }) => {
        const joint = jointAt(stage, x, y, moves);
        stage.tip = joint?.name ?? "";
        return joint ? { marks: [{ place: jointPlace(stage, joint), kind: "hover" }], lines: [] } : NOTHING;
    },
});

// Two joints

const firstJoint = signal<Joint | null>(null);
const ratio = signal(2);
const gear = signal("Gear");
const GEARS: Record<string, string> = {
    Gear: "external",
    InternalGear: "in a ring gear",
    BevelGear: "bevel",
    RackPinion: "rack and pinion",
};

function couple(
    id: string,
    label: string,
    icon: IconName,
    kind: () => string,
    more?: () => preact.ComponentChildren,
): Tool {
    return {
        id,
        label,
        icon,
        hint: () =>
            firstJoint.value
                ? `from ${firstJoint.value.name}: click the second joint`
                : "click the joint of the first wheel",
        settings: () => (
            <>
                {more?.()}
                <NumberField label="ratio" value={ratio} hint="How many times wheel 1 turns for one turn of wheel 2" />
            </>
        ),
        back: () => {
            const had = firstJoint.value !== null;
            firstJoint.value = null;
            return had;
        },
        click: ({ stage, x, y }) => {
            const one = firstJoint.value;
            const joint = jointAt(stage, x, y, (other) => moves(other) && other.name !== one?.name);
            if (!joint) {
                tell("There is no joint there that moves.", true);
                return;
            }
            firstJoint.value = one ? null : joint;
            if (!one) return;
            void order("add", {
                noun: "constraint",
                kind: kind(),
                ends: [one.name, joint.name],
                fields: { ratio: ratio.value },
            }).then((answer) => {
                if (answer.ok && typeof answer.result?.result === "string")
                    choose({ table: "constraints", name: answer.result.result });
            });
        },
        hover: ({ stage, x, y }) => {
            const one = firstJoint.value;
            const joint = jointAt(stage, x, y, (other) => moves(other) && other.name !== one?.name);
            stage.tip = joint?.name ?? "";
            const marks = joint ? [{ place: jointPlace(stage, joint), kind: "hover" as const }] : [];
            if (!one) return { marks, lines: [] };
            const place = jointPlace(stage, one);
            return {
                marks: [...marks, { place, kind: "picked" }],
                lines: joint ? [[place, jointPlace(stage, joint)]] : [],
            };
        },
    };
}

tools.push(
    couple(
        "gear",
        "Gears",
        "gear",
        () => gear.value,
        () => <Choice label="kind" value={gear} options={["Gear", "InternalGear"]} text={(one) => GEARS[one]} />,
    ),
    couple("belt", "Belt or chain", "belt", () => "Belt"),
);

// Contacts

const one = signal<Target | null>(null);
const stiffness = signal(1e5);
const friction = signal(0.3);
const restitution = signal(0.3);

tools.push({
    id: "contact",
    label: "Contact of two bodies",
    icon: "contact",
    hint: () =>
        one.value
            ? `${one.value.name} with …: click the second body, or beside all bodies for the ground`
            : "click a body that is to touch another one",
    settings: () => (
        <>
            <NumberField label="stiffness" value={stiffness} unit="N/m" least={1e-9} />
            <NumberField label="friction" value={friction} least={0} hint="Coefficient" />
            <NumberField
                label="restitution"
                value={restitution}
                least={0}
                hint="Speed after an impact by the speed before it"
            />
        </>
    ),
    back: () => {
        const had = one.value !== null;
        one.value = null;
        return had;
    },
    click: ({ stage, x, y }) => {
        const from = one.value;
        const found = pointAt(stage, x, y, from?.body ?? -1);
        if (!from) {
            if (found) one.value = found;
            else tell("There is nothing there: click a body.", true);
            return;
        }
        one.value = null;
        const fields = { stiffness: stiffness.value, friction: friction.value, restitution: restitution.value };
        void order("add", { noun: "force", kind: "Contact", ends: [from.name, found?.name ?? "ground"], fields }).then(
            (answer) => {
                if (answer.ok && typeof answer.result?.result === "string")
                    choose({ table: "forces", name: answer.result.result });
            },
        );
    },
    hover: ({ stage, x, y }) => {
        const found = pointAt(stage, x, y, one.value?.body ?? -1);
        stage.tip = found?.name ?? (one.value ? "the ground" : "");
        return NOTHING;
    },
});

// Sensors

const sensor = signal("Encoder");
const SENSORS: Record<string, string> = {
    Encoder: "angle or travel of a joint",
    WrenchSensor: "force and moment in a joint",
    IMU: "acceleration and angular velocity of a point",
    DistanceSensor: "distance of two points",
    ForceSensor: "effort of a spring or motor",
};
const period = signal(1e-3);
const from = signal<Target | null>(null);

async function addSensor(kind: string, ends: (string | object)[], more: Record<string, unknown> = {}): Promise<void> {
    const answer = await order("add", {
        noun: "sensor",
        kind,
        ends: ends as never,
        fields: { period: period.value, ...more },
    });
    if (answer.ok && typeof answer.result?.result === "string")
        choose({ table: "sensors", name: answer.result.result });
}

tools.push({
    id: "sensor",
    label: "Sensor",
    icon: "sensor",
    hint: () =>
        sensor.value === "DistanceSensor"
            ? from.value
                ? `from ${targetText(from.value)}: click the second point`
                : "click the first point"
            : sensor.value === "IMU"
              ? "click the point of a body where the sensor sits"
              : sensor.value === "ForceSensor"
                ? "click a spring, cylinder or other force"
                : "click a joint",
    settings: () => (
        <>
            <Choice label="measures" value={sensor} options={Object.keys(SENSORS)} text={(kind) => SENSORS[kind]} />
            <NumberField label="period" value={period} unit="s" least={1e-9} hint="Between samples" />
        </>
    ),
    points: true,
    back: () => {
        const had = from.value !== null;
        from.value = null;
        return had;
    },
    click: ({ stage, x, y }) => {
        const kind = sensor.value;
        if (kind === "Encoder" || kind === "WrenchSensor") {
            const joint = jointAt(stage, x, y);
            if (!joint) tell("There is no joint there.", true);
            else void (kind === "Encoder" ? addSensor(kind, [joint.name]) : addSensor(kind, [], { of: joint.name }));
            return;
        }
        if (kind === "ForceSensor") {
            const found = elementAt(stage, x, y);
            if (found?.table === "forces") void addSensor(kind, [], { of: found.name });
            else tell("There is no spring or other force there.", true);
            return;
        }
        const found = pointAt(stage, x, y, from.value?.body ?? -1);
        if (!found) tell("There is nothing there: click a point of a body.", true);
        else if (kind === "IMU") void addSensor(kind, [found.marker || { body: found.name, point: found.point }]);
        else if (!from.value) from.value = found;
        else {
            const ends = [from.value, found].map(
                (target) => target.marker || { body: target.name, point: target.point },
            );
            from.value = null;
            void addSensor(kind, ends);
        }
    },
    hover: ({ stage, x, y }) => {
        const wantsJoint = sensor.value === "Encoder" || sensor.value === "WrenchSensor";
        const joint = wantsJoint ? jointAt(stage, x, y) : null;
        const found = wantsJoint ? null : pointAt(stage, x, y, from.value?.body ?? -1);
        stage.tip = joint?.name ?? (found ? targetText(found) : "");
        const place = joint ? jointPlace(stage, joint) : found?.place;
        return place ? { marks: [{ place, kind: "hover" }], lines: [] } : NOTHING;
    },
});

tools.push({
    id: "cut",
    label: "Cut a joint open",
    icon: "cut",
    hint: () => "click a joint to take it away, such as one that closes a loop; Undo brings it back",
    click: ({ stage, x, y }) => {
        const joint = jointAt(stage, x, y);
        const other = joint ? null : elementAt(stage, x, y);
        if (joint) void order("remove", { name: joint.name });
        else if (other && other.table !== "bodies") void order("remove", { name: other.name });
        else tell("There is no joint there.", true);
    },
    hover: ({ stage, x, y }) => {
        const joint = jointAt(stage, x, y);
        stage.tip = joint ? `cut ${joint.name}` : "";
        return joint ? { marks: [{ place: jointPlace(stage, joint), kind: "picked" }], lines: [] } : NOTHING;
    },
});
