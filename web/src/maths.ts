// Vectors, quaternions (w, x, y, z) and rays, as plain tuples.

import type { Quat, Vec3 } from "./protocol.ts";

export const add = (a: Vec3, b: Vec3): Vec3 => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const sub = (a: Vec3, b: Vec3): Vec3 => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const scale = (a: Vec3, s: number): Vec3 => [a[0] * s, a[1] * s, a[2] * s];
export const along = (a: Vec3, b: Vec3, s: number): Vec3 => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
export const dot = (a: Vec3, b: Vec3): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a: Vec3, b: Vec3): Vec3 => [
    a[1] * b[2] - a[2] * b[1],
    a[2] * b[0] - a[0] * b[2],
    a[0] * b[1] - a[1] * b[0],
];
export const norm = (a: Vec3): number => Math.hypot(a[0], a[1], a[2]);
export const distance = (a: Vec3, b: Vec3): number => norm(sub(a, b));
export const middle = (a: Vec3, b: Vec3): Vec3 => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2];

export function unit(a: Vec3): Vec3 {
    const size = norm(a);
    return size > 0 ? scale(a, 1 / size) : [0, 0, 0];
}

/** A vector in the axes of the frame that a quaternion turns into the world. */
export function rotate(q: Quat, v: Vec3): Vec3 {
    const u: Vec3 = [q[1], q[2], q[3]];
    const t = scale(cross(u, v), 2);
    return add(along(v, t, q[0]), cross(u, t));
}

export const conjugate = (q: Quat): Quat => [q[0], -q[1], -q[2], -q[3]];

export const product = (a: Quat, b: Quat): Quat => [
    a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
    a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
    a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
    a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
];

/** The quaternion that turns z into a direction, by the shortest way. */
export function fromZ(way: Vec3): Quat {
    const [x, y, z] = unit(way);
    if (x === 0 && y === 0 && z === 0) return [1, 0, 0, 0];
    if (1 + z < 1e-12) return [0, 1, 0, 0];
    const size = Math.hypot(1 + z, x, y);
    return [(1 + z) / size, -y / size, x / size, 0];
}

/** A unit vector perpendicular to another one. */
export function perpendicular(a: Vec3): Vec3 {
    const axis: Vec3 = Math.abs(a[2]) < 0.9 * norm(a) ? [0, 0, 1] : [1, 0, 0];
    return unit(cross(axis, a));
}

/** A ray; way is a unit vector. */
export type Ray = { origin: Vec3; way: Vec3 };

export const onRay = (ray: Ray, depth: number): Vec3 => along(ray.origin, ray.way, depth);

/** Where a ray meets a plane; null where it runs along it or away from it. */
export function onPlane(ray: Ray, point: Vec3, normal: Vec3): Vec3 | null {
    const fall = dot(ray.way, normal);
    if (Math.abs(fall) < 1e-9) return null;
    const depth = dot(sub(point, ray.origin), normal) / fall;
    return depth > 0 ? onRay(ray, depth) : null;
}

/** Depths at which a line enters and leaves the triangles of a mesh, nearest and farthest ahead; null for none. */
export function crossings(vertices: Float32Array, indices: Uint32Array, ray: Ray): [number, number] | null {
    const [ox, oy, oz] = ray.origin;
    const [dx, dy, dz] = ray.way;
    let near = Infinity;
    let far = -Infinity;
    for (let k = 0; k < indices.length; k += 3) {
        const a = 3 * indices[k];
        const b = 3 * indices[k + 1];
        const c = 3 * indices[k + 2];
        const ax = vertices[a];
        const ay = vertices[a + 1];
        const az = vertices[a + 2];
        const e1x = vertices[b] - ax;
        const e1y = vertices[b + 1] - ay;
        const e1z = vertices[b + 2] - az;
        const e2x = vertices[c] - ax;
        const e2y = vertices[c + 1] - ay;
        const e2z = vertices[c + 2] - az;
        const px = dy * e2z - dz * e2y;
        const py = dz * e2x - dx * e2z;
        const pz = dx * e2y - dy * e2x;
        const det = e1x * px + e1y * py + e1z * pz;
        if (det === 0) continue;
        const tx = ox - ax;
        const ty = oy - ay;
        const tz = oz - az;
        const u = (tx * px + ty * py + tz * pz) / det;
        if (u < 0 || u > 1) continue;
        const qx = ty * e1z - tz * e1y;
        const qy = tz * e1x - tx * e1z;
        const qz = tx * e1y - ty * e1x;
        const v = (dx * qx + dy * qy + dz * qz) / det;
        if (v < 0 || u + v > 1) continue;
        const depth = (e2x * qx + e2y * qy + e2z * qz) / det;
        if (depth <= 0) continue;
        if (depth < near) near = depth;
        if (depth > far) far = depth;
    }
    return near < Infinity ? [near, far] : null;
}

/** The nearest of 1, 2, 5 times a power of ten. */
export function round125(value: number): number {
    const power = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 5, 10].map((k) => k * power).reduce((a, b) => (Math.abs(b - value) < Math.abs(a - value) ? b : a));
}
