// Traces of points and envelopes of bodies: what is asked for, and its data from the past and from frames as they come.

import { signal } from "@preact/signals";
import { add, rotate } from "./maths.ts";
import { POSE } from "./protocol.ts";
import type { Frame, Quat, Traced, Vec3 } from "./protocol.ts";
import { whenPointsMove } from "./anchors.ts";
import { ask, whenFrame } from "./socket.ts";
import { now, scene, tell } from "./state.ts";

/** A point that is traced, or, as an envelope, a body that leaves pictures of itself. */
export type Trace = { body: string; point: Vec3; envelope: boolean; color: number };

export const COLORS = [0xd9480f, 0x2f6fb3, 0x2b8a3e, 0x9c36b5, 0xb08900, 0x0b7285];
export const traces = signal<Trace[]>([]);
const MOST = 6000; // points of a trace

export type Path = { time: number[]; points: Vec3[]; rotations: Quat[]; complete: boolean };
export const paths = new Map<Trace, Path>();
/** Called when a path has changed. */
export const watchers: (() => void)[] = [];
const changed = () => watchers.forEach((watcher) => watcher());

export function addTrace(body: string, point: Vec3, envelope = false): void {
    const same = traces.value.find(
        (one) =>
            one.body === body && one.envelope === envelope && one.point.every((x, k) => Math.abs(x - point[k]) < 1e-9),
    );
    if (same) {
        removeTrace(same);
        return;
    }
    const trace = { body, point, envelope, color: COLORS[traces.value.length % COLORS.length] };
    traces.value = [...traces.value, trace];
    paths.set(trace, { time: [], points: [], rotations: [], complete: false });
    void fill(trace);
}

/** Trace these alone, from what was recorded on. */
export function putTraces(wanted: Trace[]): void {
    traces.value = wanted;
    paths.clear();
    for (const trace of wanted) {
        paths.set(trace, { time: [], points: [], rotations: [], complete: false });
        void fill(trace);
    }
}

export function removeTrace(trace: Trace): void {
    traces.value = traces.value.filter((one) => one !== trace);
    paths.delete(trace);
    changed();
}

/** Take what was recorded. */
async function fill(trace: Trace): Promise<void> {
    const answer = await ask("trace", { body: trace.body, point: trace.point, frames: 3000 });
    const path = paths.get(trace);
    if (!path) return;
    path.complete = true;
    if (!answer.ok) {
        tell(answer.text || answer.error?.message || "", true);
        return;
    }
    const found = answer.result as unknown as Traced;
    const after = path.time.findIndex((time) => time > (found.time.at(-1) ?? -Infinity));
    const late = after < 0 ? path.time.length : after;
    path.time = [...found.time, ...path.time.slice(late)];
    path.points = [...found.points, ...path.points.slice(late)];
    path.rotations = [...found.rotations, ...path.rotations.slice(late)];
    changed();
}

function extend(frame: Frame): void {
    const carriers = scene.peek()?.carriers;
    if (!carriers) return;
    for (const [trace, path] of paths) {
        const body = carriers.indexOf(trace.body);
        const last = path.time.at(-1) ?? -Infinity;
        if (body < 0) continue;
        if (frame.last < last - 1e-9) {
            // what was recorded has been cut: the past is what is left of it
            const keep = path.time.findIndex((time) => time > frame.last + 1e-12);
            for (const list of [path.time, path.points, path.rotations]) list.length = Math.max(keep, 0);
            changed();
        }
        if (frame.status !== 1 || frame.time <= (path.time.at(-1) ?? -Infinity)) continue;
        const at = POSE * body;
        const p = frame.tree ? (now.tree?.numbers ?? frame.poses) : frame.poses;
        const rotation: Quat = [p[at + 3], p[at + 4], p[at + 5], p[at + 6]];
        const place = add([p[at], p[at + 1], p[at + 2]], frame.origin);
        path.time.push(frame.time);
        path.points.push(add(place, rotate(rotation, trace.point)));
        path.rotations.push(rotation);
        if (path.time.length > MOST)
            for (const list of [path.time, path.points, path.rotations]) list.splice(0, MOST / 10);
        changed();
    }
}

whenFrame(extend);
whenPointsMove((move) => {
    const carriers = scene.peek()?.carriers ?? [];
    const kept = traces.peek().filter((trace) => carriers.includes(trace.body));
    putTraces(kept.map((trace) => ({ ...trace, point: trace.envelope ? trace.point : move(trace.body, trace.point) })));
});
