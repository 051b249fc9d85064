// A tree of bodies whose frames tell what moved alone: where they all are, and which move as one.

import type { TreeFrame, Vec3 } from "./protocol.ts";
import { POSE } from "./protocol.ts";

/** The cluster of bodies that do not move. */
export const GROUND = -1;

export class Tree {
    /** Positions on the page and rotations in the world, seven numbers a body, the ground last. */
    readonly numbers: Float64Array;
    /** Per body the first body of those that it moves with, whose joint is free; or GROUND. */
    readonly clusters: Int32Array;
    /** Per body whether its joint is free. */
    readonly free: Uint8Array;
    /** Counts changes of the clusters. */
    changes = 0;
    /** Where bodies have moved in the last frame: stretches of `order`, from and to, one after another. */
    moved: number[] = [];
    /** Bodies, each after the one that carries it, and all that hang on it next to it. */
    readonly order: Int32Array;
    private readonly rank: Int32Array; // per body its place there
    private readonly ends: Int32Array; // by rank: where what hangs on it ends
    private readonly places: Float64Array; // in the frames of the carriers
    private base: Vec3 = [0, 0, 0];

    constructor(readonly carriers: Int32Array) {
        const count = carriers.length;
        this.numbers = new Float64Array(POSE * (count + 1));
        this.places = new Float64Array(POSE * count);
        this.clusters = new Int32Array(count).fill(GROUND);
        this.free = new Uint8Array(count);
        this.order = new Int32Array(count);
        this.rank = new Int32Array(count);
        this.ends = new Int32Array(count);
        for (let body = 0; body <= count; body += 1) this.numbers[POSE * body + 3] = 1;
        for (let body = 0; body < count; body += 1) this.places[POSE * body + 3] = 1;
        this.arrange();
    }

    private arrange(): void {
        const count = this.carriers.length;
        const first = new Int32Array(count + 1).fill(-1); // of what a body carries, the ground's last
        const next = new Int32Array(count).fill(-1);
        for (let body = count - 1; body >= 0; body -= 1) {
            const carrier = this.carriers[body] < 0 ? count : this.carriers[body];
            next[body] = first[carrier];
            first[carrier] = body;
        }
        let at = 0;
        const stack = [first[count]];
        const open: number[] = []; // bodies whose subtrees have not ended
        while (stack.length) {
            const body = stack.pop()!;
            if (body < 0) {
                const closed = open.pop();
                if (closed !== undefined) this.ends[this.rank[closed]] = at;
                continue;
            }
            this.order[at] = body;
            this.rank[body] = at;
            at += 1;
            stack.push(next[body]);
            open.push(body);
            stack.push(first[body]);
        }
    }

    /** Take up a frame, whose positions are told from an origin. */
    take(frame: TreeFrame, origin: Vec3): void {
        const shifted = origin.some((x, k) => x !== this.base[k]);
        this.base = origin;
        this.numbers.set([-origin[0], -origin[1], -origin[2]], POSE * this.carriers.length);
        frame.bodies.forEach((body, k) => {
            this.places.set(frame.places.subarray(POSE * k, POSE * (k + 1)), POSE * body);
        });
        this.moved.length = 0;
        if (shifted) this.moved.push(0, this.order.length);
        else {
            let until = 0;
            for (const begin of Int32Array.from(frame.bodies, (body) => this.rank[body]).sort()) {
                if (begin < until) continue;
                until = this.ends[begin];
                if (this.moved.at(-1) === begin) this.moved[this.moved.length - 1] = until;
                else this.moved.push(begin, until);
            }
        }
        for (let k = 0; k < this.moved.length; k += 2)
            for (let rank = this.moved[k]; rank < this.moved[k + 1]; rank += 1) this.put(this.order[rank]);
        if (frame.free) this.split(frame.free);
    }

    /** Put a body where it is on what carries it. */
    private put(body: number): void {
        const { numbers: n, places: p } = this;
        const carrier = this.carriers[body];
        const at = POSE * body;
        const from = POSE * (carrier < 0 ? this.carriers.length : carrier);
        const [x, y, z] = [p[at], p[at + 1], p[at + 2]];
        const [w, a, b, c] = [n[from + 3], n[from + 4], n[from + 5], n[from + 6]];
        const tx = 2 * (b * z - c * y);
        const ty = 2 * (c * x - a * z);
        const tz = 2 * (a * y - b * x);
        n[at] = n[from] + x + w * tx + b * tz - c * ty;
        n[at + 1] = n[from + 1] + y + w * ty + c * tx - a * tz;
        n[at + 2] = n[from + 2] + z + w * tz + a * ty - b * tx;
        const [e, f, g, h] = [p[at + 3], p[at + 4], p[at + 5], p[at + 6]];
        const q0 = w * e - a * f - b * g - c * h;
        const q1 = w * f + a * e + b * h - c * g;
        const q2 = w * g - a * h + b * e + c * f;
        const q3 = w * h + a * g - b * f + c * e;
        const size = 1 / Math.sqrt(q0 * q0 + q1 * q1 + q2 * q2 + q3 * q3); // products drift in long chains
        n[at + 3] = size * q0;
        n[at + 4] = size * q1;
        n[at + 5] = size * q2;
        n[at + 6] = size * q3;
    }

    private split(free: Uint32Array): void {
        this.free.fill(0);
        for (const body of free) this.free[body] = 1;
        for (const body of this.order) {
            const carrier = this.carriers[body];
            this.clusters[body] = this.free[body] ? body : carrier < 0 ? GROUND : this.clusters[carrier];
        }
        this.changes += 1;
    }

    /** How many clusters there are besides what stands on the ground. */
    get count(): number {
        return this.free.reduce((sum, one) => sum + one, 0);
    }
}

/** Red, green, blue of a cluster, 0 to 1, as screens have them: it keeps its colour as long as its first body does. */
export function colorOf(cluster: number): Vec3 {
    if (cluster === GROUND) return [0.62, 0.65, 0.69];
    const part = (factor: number) => (cluster * factor) % 1;
    const hue = 0.19 + 0.78 * part(0.6180339887498949); // without the amber of free joints
    const strong = 0.45 + 0.25 * part(0.7548776662466927);
    const light = 0.42 + 0.24 * part(0.5698402909980532);
    const reach = strong * Math.min(light, 1 - light);
    const channel = (shift: number) => {
        const k = (shift + 12 * hue) % 12;
        return light - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    };
    return [channel(0), channel(8), channel(4)];
}

/** Of the body behind a free joint. */
export const FREE: Vec3 = [0.95, 0.64, 0];
