// Poses between two poses, on the screw from the one to the other: the axis of an elastic segment between its nodes.

import { add, along, conjugate, cross, norm, product, rotate, scale, sub } from "./maths.ts";
import type { Quat, Vec3 } from "./protocol.ts";

export type Pose = { at: Vec3; turn: Quat };

/** The rotation vector of a quaternion. */
export function logarithm(q: Quat): Vec3 {
    const sign = q[0] < 0 ? -1 : 1;
    const v: Vec3 = [sign * q[1], sign * q[2], sign * q[3]];
    const sine = norm(v);
    return scale(v, sine > 1e-12 ? (2 * Math.atan2(sine, sign * q[0])) / sine : 2);
}

/** The quaternion of a rotation vector. */
export function exponential(v: Vec3): Quat {
    const half = norm(v) / 2;
    const part = half > 1e-12 ? Math.sin(half) / (2 * half) : 0.5;
    return [Math.cos(half), part * v[0], part * v[1], part * v[2]];
}

/** The way of a point that moves along u while its frame turns by v, both in unit time. */
function turnedWay(v: Vec3, u: Vec3): Vec3 {
    const a = norm(v);
    const first = a > 1e-3 ? (1 - Math.cos(a)) / (a * a) : 0.5 - (a * a) / 24;
    const second = a > 1e-3 ? (a - Math.sin(a)) / (a * a * a) : 1 / 6 - (a * a) / 120;
    const t = cross(v, u);
    return along(along(u, t, first), cross(v, t), second);
}

/** The u of which a way is made. */
function straightened(v: Vec3, way: Vec3): Vec3 {
    const a = norm(v);
    const factor = a > 1e-2 ? (1 - a / 2 / Math.tan(a / 2)) / (a * a) : 1 / 12 + (a * a) / 720;
    const t = cross(v, way);
    return along(along(way, t, -0.5), cross(v, t), factor);
}

/** The screw from one pose to another, as a function of the part of it that is before. */
export function screw(first: Pose, second: Pose): (part: number) => Pose {
    const back = conjugate(first.turn);
    const v = logarithm(product(back, second.turn));
    const u = straightened(v, rotate(back, sub(second.at, first.at)));
    return (part) => ({
        at: add(first.at, rotate(first.turn, turnedWay(scale(v, part), scale(u, part)))),
        turn: product(first.turn, exponential(scale(v, part))),
    });
}
