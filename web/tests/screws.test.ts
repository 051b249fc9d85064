import assert from "node:assert/strict";
import { test } from "node:test";
import { norm, rotate, sub } from "../src/maths.ts";
import type { Quat, Vec3 } from "../src/protocol.ts";
import { exponential, logarithm, screw } from "../src/screws.ts";

const near = (a: readonly number[], b: readonly number[], within = 1e-12) =>
    a.forEach((x, k) => assert.ok(Math.abs(x - b[k]) < within, `${a} is not ${b}`));

test("a rotation vector is that of its quaternion", () => {
    for (const v of [
        [0.3, -0.2, 0.1],
        [1e-9, 0, 2e-9],
        [0, 0, 0],
        [0, 3, 0],
    ] as Vec3[]) {
        near(logarithm(exponential(v)), v);
        near(logarithm(exponential(v).map((x) => -x) as Quat), v);
    }
});

test("a screw begins and ends at its poses", () => {
    const first = { at: [1, 2, 3] as Vec3, turn: exponential([0.1, 0.7, -0.4]) };
    for (const turn of [exponential([0.5, 0.2, -0.6]), exponential([0.1, 0.7, -0.399])]) {
        const way = screw(first, { at: [1.4, 2.3, 2.6], turn });
        near(way(0).at, first.at);
        near(way(1).at, [1.4, 2.3, 2.6]);
        near(way(1).turn, turn);
        const half = screw(way(0), way(0.5));
        near(half(0.5).at, way(0.25).at, 1e-11);
        near(half(0.5).turn, way(0.25).turn, 1e-11);
    }
});

test("an arc stays an arc", () => {
    const radius = 2;
    const on = (a: number) => ({
        at: [radius * Math.sin(a), 0, radius * (1 - Math.cos(a))] as Vec3,
        turn: exponential([0, -a, 0]),
    });
    const way = screw(on(0.2), on(0.7));
    for (const part of [0.1, 0.5, 0.9]) {
        near(way(part).at, on(0.2 + 0.5 * part).at);
        assert.ok(Math.abs(norm(sub(way(part).at, [0, 0, radius])) - radius) < 1e-12);
        near(rotate(way(part).turn, [1, 0, 0]), rotate(on(0.2 + 0.5 * part).turn, [1, 0, 0]));
    }
});
