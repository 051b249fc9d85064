// A recorded page: a player that does the few commands that a recording knows, without a session.

import { parseRecording, POSE } from "./protocol.ts";
import type { Answer, Frame, Quat, Recording, State, Traced, Vec3 } from "./protocol.ts";
import { rotate, add } from "./maths.ts";
import { takeEvent, takeFrame, takeScene, takeSignals, use } from "./socket.ts";
import * as page from "./state.ts";

const done = (result?: Record<string, unknown>): Answer => ({ id: 0, ok: true, text: "", result });
const cannot: Answer = { id: 0, ok: false, text: "This page shows a recorded run, in which nothing can be changed." };

/** The data of a recording in this document; null for a page of a session. */
export function recordingIn(id: string): Recording | null {
    const text = document.getElementById(id)?.textContent?.trim();
    if (!text) return null;
    const letters = atob(text);
    const data = new Uint8Array(letters.length);
    for (let k = 0; k < letters.length; k += 1) data[k] = letters.charCodeAt(k);
    return parseRecording(data.buffer);
}

/** Play a recording from its first frame. */
export function play(recording: Recording): void {
    const { frames, scene } = recording;
    const times = frames.map((frame) => frame.time);
    const first = times[0] ?? 0;
    const last = times.at(-1) ?? 0;
    let at = 0;
    let clock = first;
    let before = 0;
    let speed = 1;
    let playing = false;
    const names = scene.signals.flatMap(({ group, signals }) => signals.map(([label]) => `${group}.${label}`));
    let watched: string[] = [];

    const nearest = (time: number) =>
        times.reduce((best, t, k) => (Math.abs(t - time) < Math.abs(times[best] - time) ? k : best), 0);
    const show = (number: number) => {
        at = Math.max(0, Math.min(number, frames.length - 1));
        takeFrame({
            ...frames[at],
            number: at,
            first,
            last,
            speed,
            status: playing ? 1 : 0,
            factor: playing ? speed : NaN,
        });
    };
    const tell = () => takeEvent(stateOf(scene.name, playing));
    const stop = () => {
        playing = false;
        tell();
    };
    const tick = (moment: number) => {
        if (!playing) return;
        clock = Math.min(clock + (speed * (moment - before)) / 1000, last);
        before = moment;
        let next = at;
        while (next + 1 < frames.length && times[next + 1] <= clock) next += 1;
        if (clock >= last) playing = false;
        if (next !== at || !playing) show(next);
        if (playing) requestAnimationFrame(tick);
        else tell();
    };
    const commands: Record<string, (given: Record<string, unknown>) => Answer> = {
        play: () => {
            if (at === frames.length - 1) at = 0;
            clock = times[at];
            before = performance.now();
            if (!playing) requestAnimationFrame(tick);
            playing = true;
            tell();
            show(at);
            return done();
        },
        pause: () => {
            stop();
            show(at);
            return done();
        },
        step: ({ count }) => {
            stop();
            show(at + Number(count ?? 1));
            return done();
        },
        reset: () => {
            stop();
            show(0);
            return done();
        },
        rewind: ({ time }) => {
            stop();
            show(nearest(Number(time)));
            return done();
        },
        speed: ({ value }) => {
            speed = Number(value);
            show(at);
            return done();
        },
        trace: ({ body, point }) =>
            done(
                traced(recording, String(body), (point as Vec3 | undefined) ?? [0, 0, 0]) as unknown as Record<
                    string,
                    unknown
                >,
            ),
    };
    use({
        ask: (name, given) => Promise.resolve(commands[name]?.(given as Record<string, unknown>) ?? cannot),
        send: (name, given) => void commands[name]?.(given as Record<string, unknown>),
        complete: () => Promise.resolve([]),
        watch: (wanted) => {
            if (!recording.signals || wanted.signals?.join() === watched.join()) return;
            watched = wanted.signals ?? [];
            const { time, columns, edition } = recording.signals;
            const found = watched.map((name) => columns[names.indexOf(name)]);
            takeSignals({ edition, fresh: true, time, columns: found });
        },
    });
    page.recorded.value = true;
    page.connected.value = true;
    takeScene(scene);
    tell();
    show(0);
}

function stateOf(name: string, playing: boolean): State {
    return {
        event: "state",
        name,
        live: false,
        adaptive: null,
        status: playing ? "playing" : "paused",
        message: "",
        formulation: "",
        settings: { formulation: "", method: "", step: 0 },
        formulations: [],
        methods: [],
        fixed: [],
        inputs: {},
        parameters: {},
        pins: [],
        preparing: "",
        late: false,
        active: null,
        markers: [],
        jogged: false,
        misfits: [],
        limits: [],
        undo: false,
        redo: false,
    };
}

function traced({ scene, frames }: Recording, body: string, point: Vec3): Traced {
    const index = scene.carriers.indexOf(body);
    const rotations = frames.map((frame) => quatOf(frame, index));
    const points = frames.map((frame, k) => {
        const p = frame.poses.subarray(POSE * index, POSE * index + 3);
        return add(add(frame.origin, [p[0], p[1], p[2]]), rotate(rotations[k], point));
    });
    return { time: frames.map((frame) => frame.time), points, rotations };
}

function quatOf(frame: Frame, index: number): Quat {
    const at = POSE * index + 3;
    return [frame.poses[at], frame.poses[at + 1], frame.poses[at + 2], frame.poses[at + 3]];
}
