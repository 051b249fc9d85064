// What tests ask the page: pixels of points, frames and pictures that were drawn, moves that were done.

import { moves, taken } from "./socket.ts";
import { dimensions } from "./dimensions.ts";
import { following } from "./kept.ts";
import { now, scene, selection, state } from "./state.ts";
import { tool } from "./tools/tool.ts";
import { paths } from "./traces.ts";
import { view } from "./panels/view.tsx";
import { data } from "./plotted.ts";
import type { Vec3 } from "./protocol.ts";

declare global {
    interface Window {
        bellcrank: typeof hook;
    }
}

const inPage = (pixel: [number, number, number] | null | undefined): [number, number] | null => {
    const box = view.peek()?.box.getBoundingClientRect();
    return pixel && box ? [box.left + pixel[0], box.top + pixel[1]] : null;
};

export const hook = {
    get stage() {
        return view.peek();
    },
    /** The pixel of the page where a point of the world is seen. */
    pixelOf: (point: Vec3) => {
        const stage = view.peek();
        return stage ? inPage(stage.camera.pixel(stage.poses.toPage(point))) : null;
    },
    /** The pixel where a point of a body, in its frame, is seen. */
    pixelOn: (body: string, point: Vec3 = [0, 0, 0]) => {
        const stage = view.peek();
        const index = scene.peek()?.carriers.indexOf(body) ?? -1;
        return stage && index >= 0 ? inPage(stage.camera.pixel(stage.poses.place(index, point))) : null;
    },
    /** The pixel of a joint. */
    pixelOfJoint: (name: string) => {
        const stage = view.peek();
        const joint = scene.peek()?.joints.find((one) => one.name === name);
        return stage && joint ? inPage(stage.camera.pixel(stage.poses.place(joint.carriers[0], joint.point))) : null;
    },
    position: (body: string) => {
        const stage = view.peek();
        const index = scene.peek()?.carriers.indexOf(body) ?? -1;
        return stage && index >= 0 ? stage.poses.toWorld(stage.poses.position(index)) : null;
    },
    get frame() {
        return now.frame?.number ?? -1;
    },
    get time() {
        return now.frame?.time ?? NaN;
    },
    /** Of adaptive dynamics: what is left out. */
    get adaptivity() {
        return now.frame?.tree?.facts ?? null;
    },
    /** Per body the first body of those that it moves with, -1 for the ground. */
    get clusters() {
        return now.tree ? [...now.tree.clusters] : null;
    },
    get edition() {
        return scene.peek()?.edition ?? -1;
    },
    get status() {
        return state.peek()?.status ?? "";
    },
    get carriers() {
        return scene.peek()?.carriers ?? [];
    },
    get selection() {
        return selection.peek();
    },
    get tool() {
        return tool.peek()?.id ?? "";
    },
    /** Frames taken up and bytes, pictures drawn, ms spent, the level of quality. */
    get counts() {
        const stage = view.peek();
        return { ...taken, ...stage?.counts, level: stage?.quality.level ?? -1, software: stage?.software ?? false };
    },
    /** Moves of the mouse: sent, done, and ms from the one to the frame that contains it. */
    get moves() {
        return { sent: moves.sent, done: moves.done, delays: [...moves.delays] };
    },
    get traces() {
        return [...paths.entries()].map(([trace, path]) => ({
            body: trace.body,
            count: path.points.length,
            complete: path.complete,
        }));
    },
    get dimensions() {
        return dimensions.peek();
    },
    /** Where the camera stands and what it looks at, in the world, and the body that it follows. */
    get camera() {
        const stage = view.peek();
        if (!stage) return null;
        const { camera, poses } = stage;
        return { eye: poses.toWorld(camera.eye), target: poses.toWorld(camera.target), follows: following.peek() };
    },
    get plotted() {
        return { names: data.names, rows: data.time.length };
    },
};
