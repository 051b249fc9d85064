// Rotations as people type them: angles about x, then y, then z of the turned axes.

import { product } from "../maths.ts";
import type { Quat, Vec3 } from "../protocol.ts";

const DEGREES = 180 / Math.PI;

/** Angles about x, then y, then z of the turned axes, degrees. */
export function anglesOf([w, x, y, z]: Quat): Vec3 {
    const sine = Math.max(-1, Math.min(1, 2 * (w * y + x * z)));
    const b = Math.asin(sine);
    if (Math.abs(sine) > 1 - 1e-9) return [2 * Math.atan2(x, w) * DEGREES, b * DEGREES, 0];
    const a = Math.atan2(2 * (w * x - y * z), 1 - 2 * (x * x + y * y));
    const c = Math.atan2(2 * (w * z - x * y), 1 - 2 * (y * y + z * z));
    return [a * DEGREES, b * DEGREES, c * DEGREES];
}

export function quatOf([a, b, c]: Vec3): Quat {
    const half = (angle: number) => angle / DEGREES / 2;
    const qx: Quat = [Math.cos(half(a)), Math.sin(half(a)), 0, 0];
    const qy: Quat = [Math.cos(half(b)), 0, Math.sin(half(b)), 0];
    const qz: Quat = [Math.cos(half(c)), 0, 0, Math.sin(half(c))];
    return product(product(qx, qy), qz);
}
