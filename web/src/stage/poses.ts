// Where bodies are: poses of the last frame, in the world (numbers of 64 bits) and on the page (relative to a base).

import { add, conjugate, rotate, sub } from "../maths.ts";
import { POSE, TWIST } from "../protocol.ts";
import type { Frame, Quat, Vec3 } from "../protocol.ts";
import type { Tree } from "../tree.ts";

const SPAN = 0.1; // s between frames, beyond which differences say nothing of accelerations

/** Poses of bodies; the index after the last body is that of the ground. */
export class Poses {
    frame: Frame | null = null;
    base: Vec3 = [0, 0, 0];
    /** Of adaptive dynamics: what moves as one. */
    tree: Tree | null = null;
    /** Positions on the page and rotations, seven numbers a body, the ground last. */
    numbers: Float64Array = new Float64Array(POSE);

    /** Take up a frame; whether the base has moved, and by how much. */
    take(frame: Frame, tree: Tree | null = null): Vec3 | null {
        const moved = this.frame === null || frame.origin.some((x, k) => x !== this.base[k]);
        const shift = moved ? sub(frame.origin, this.base) : null;
        this.base = frame.origin;
        this.differ(this.frame, frame);
        this.frame = frame;
        this.tree = frame.tree ? tree : null;
        if (this.tree) {
            this.numbers = this.tree.numbers;
            return shift;
        }
        const size = POSE * (frame.bodies + 1);
        if (this.numbers.length !== size) this.numbers = new Float64Array(size);
        this.numbers.set(frame.poses);
        this.numbers.set([-this.base[0], -this.base[1], -this.base[2], 1, 0, 0, 0], size - POSE);
        return shift;
    }

    get count(): number {
        return this.numbers.length / POSE - 1;
    }

    position(body: number): Vec3 {
        const at = POSE * body;
        return [this.numbers[at], this.numbers[at + 1], this.numbers[at + 2]];
    }

    rotation(body: number): Quat {
        const at = POSE * body + 3;
        return [this.numbers[at], this.numbers[at + 1], this.numbers[at + 2], this.numbers[at + 3]];
    }

    /** A point of a body on the page. */
    place(body: number, point: Vec3): Vec3 {
        return add(this.position(body), rotate(this.rotation(body), point));
    }

    /** A point of the page in the frame of a body. */
    local(body: number, place: Vec3): Vec3 {
        return rotate(conjugate(this.rotation(body)), sub(place, this.position(body)));
    }

    toWorld(place: Vec3): Vec3 {
        return add(place, this.base);
    }

    toPage(point: Vec3): Vec3 {
        return sub(point, this.base);
    }

    /** Velocity and angular velocity of a body, or their rates of change, where frames contain what they need. */
    twist(body: number, rates = false): [Vec3, Vec3] | null {
        if (body === this.count)
            return [
                [0, 0, 0],
                [0, 0, 0],
            ];
        const from = rates ? this.rates : this.frame?.twists;
        if (!from || from.length < TWIST * (body + 1)) return null;
        const at = TWIST * body;
        return [
            [from[at], from[at + 1], from[at + 2]],
            [from[at + 3], from[at + 4], from[at + 5]],
        ];
    }

    private rates: Float32Array | null = null;

    /** Accelerations: those of the frame, or differences of the twists of two frames that follow each other. */
    private differ(before: Frame | null, frame: Frame): void {
        if (frame.accelerations.length) {
            this.rates = frame.accelerations;
            return;
        }
        const span = frame.time - (before?.time ?? Infinity);
        if (!before || span === 0) return;
        this.rates = null;
        if (span < 0 || span > SPAN || before.edition !== frame.edition || before.twists.length !== frame.twists.length)
            return;
        this.rates = frame.twists.map((x, k) => (x - before.twists[k]) / span);
    }
}
