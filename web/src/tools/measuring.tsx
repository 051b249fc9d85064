// Tools that look and measure: traces of points, envelopes of bodies, dimensions.

import { signal } from "@preact/signals";
import { dimensions } from "../dimensions.ts";
import type { PointOf } from "../dimensions.ts";
import { distance } from "../maths.ts";
import { elementAt, pointAt, targetText } from "../picking.ts";
import type { Target } from "../picking.ts";
import { scene, tell } from "../state.ts";
import { addTrace, removeTrace, traces } from "../traces.ts";
import { lengthText } from "../words.ts";
import { Flag } from "./settings.tsx";
import { NOTHING, tools } from "./tool.ts";

const envelope = signal(false);

tools.push({
    id: "trace",
    label: "Trace of a point, envelope of a body",
    icon: "trace",
    key: "t",
    points: true,
    always: true,
    hint: () =>
        envelope.value
            ? "click a body to see the space that it sweeps; click it again to end it"
            : "click a point to trace it; click it again to end the trace",
    settings: () => (
        <>
            <Flag label="Envelope: the space that a body sweeps" value={envelope} />
            {traces.value.map((trace, k) => (
                <div class="row" key={k}>
                    <button onClick={() => removeTrace(trace)}>Remove</button>
                    <span>
                        {trace.envelope ? "envelope of " : "point of "}
                        {trace.body}
                    </span>
                </div>
            ))}
        </>
    ),
    click: ({ stage, x, y }) => {
        const found = envelope.value ? null : pointAt(stage, x, y);
        const body = envelope.value ? elementAt(stage, x, y)?.body : found?.body;
        if (body === undefined || body < 0) tell("There is no body there.", true);
        else if (body === stage.poses.count) tell("The ground does not move.", true);
        else addTrace(scene.peek()!.carriers[body], found?.point ?? [0, 0, 0], envelope.value);
    },
    hover: ({ stage, x, y }) => {
        const found = pointAt(stage, x, y);
        stage.tip = found ? (envelope.value ? found.name : targetText(found)) : "";
        return found && !envelope.value ? { marks: [{ place: found.place, kind: "hover" }], lines: [] } : NOTHING;
    },
});

const first = signal<Target | null>(null);
const pointOf = ({ name, point }: Target): PointOf => ({ body: name, point });

tools.push({
    id: "ruler",
    label: "Dimension between two points",
    icon: "ruler",
    key: "d",
    points: true,
    always: true,
    hint: () =>
        first.value
            ? `from ${targetText(first.value)}: click the second point`
            : "click the first of two points; a double click on a dimension changes it",
    settings: () => (
        <>
            <p class="quiet">
                Double-click the number of a dimension to type another one. Both points must belong to one body.
            </p>
            {dimensions.value.length > 0 && (
                <button onClick={() => (dimensions.value = [])}>Remove all dimensions</button>
            )}
        </>
    ),
    back: () => {
        const had = first.value !== null;
        first.value = null;
        return had;
    },
    click: ({ stage, x, y }) => {
        const found = pointAt(stage, x, y);
        const from = first.value;
        if (!found) return;
        first.value = from ? null : found;
        if (from && distance(from.place, found.place) > 1e-9)
            dimensions.value = [...dimensions.value, { from: pointOf(from), to: pointOf(found) }];
    },
    hover: ({ stage, x, y }) => {
        const found = pointAt(stage, x, y);
        const from = first.value;
        const marks = found ? [{ place: found.place, kind: "hover" as const }] : [];
        if (!from) return { marks, lines: [] };
        const place = stage.poses.place(from.body, from.point);
        stage.tip = found ? lengthText(distance(place, found.place)) : "";
        return { marks: [...marks, { place, kind: "picked" }], lines: found ? [[place, found.place]] : [] };
    },
});
