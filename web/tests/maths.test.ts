import assert from "node:assert/strict";
import { test } from "node:test";
import { conjugate, crossings, fromZ, norm, product, rotate, sub, unit } from "../src/maths.ts";
import type { Quat, Vec3 } from "../src/protocol.ts";

const near = (a: readonly number[], b: readonly number[], within = 1e-12) =>
    a.forEach((x, k) => assert.ok(Math.abs(x - b[k]) < within, `${a} is not ${b}`));

test("a quaternion turns as its matrix does", () => {
    const q = [0.5, 0.1, -0.7, 0.5].map((x) => x / Math.hypot(0.5, 0.1, 0.7, 0.5)) as Quat;
    const [w, x, y, z] = q;
    const v: Vec3 = [1.3, -0.4, 2];
    near(rotate(q, v), [
        (1 - 2 * (y * y + z * z)) * v[0] + 2 * (x * y - w * z) * v[1] + 2 * (x * z + w * y) * v[2],
        2 * (x * y + w * z) * v[0] + (1 - 2 * (x * x + z * z)) * v[1] + 2 * (y * z - w * x) * v[2],
        2 * (x * z - w * y) * v[0] + 2 * (y * z + w * x) * v[1] + (1 - 2 * (x * x + y * y)) * v[2],
    ]);
    near(rotate(conjugate(q), rotate(q, v)), v);
    near(rotate(product(q, q), v), rotate(q, rotate(q, v)));
});

test("z is turned into any direction, down too", () => {
    for (const way of [
        [1, 2, -3],
        [0, 0, -1],
        [0, 0, 1],
        [1e-9, 0, -1],
    ] as Vec3[])
        near(rotate(fromZ(way), [0, 0, 1]), unit(way), 1e-8);
});

test("a ray enters and leaves a tetrahedron where its faces are", () => {
    const vertices = new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]);
    const faces = new Uint32Array([0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]);
    near(crossings(vertices, faces, { origin: [0.25, 0.25, -2], way: [0, 0, 1] })!, [2, 2.5], 1e-6);
    assert.equal(crossings(vertices, faces, { origin: [2, 2, -2], way: [0, 0, 1] }), null);
    assert.equal(norm(sub([1, 2, 3], [1, 2, 3])), 0);
});
