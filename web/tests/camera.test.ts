import assert from "node:assert/strict";
import { test } from "node:test";
import { along, distance, dot, sub } from "../src/maths.ts";
import type { Vec3 } from "../src/protocol.ts";
import { Camera } from "../src/stage/camera.ts";

function camera(): Camera {
    const found = new Camera();
    found.resize(900, 500);
    found.frame([0.3, -0.2, 1], 0.8, [0.4, -1, 0.5], [0, 0, 1]);
    return found;
}

const POINT: Vec3 = [0.6, 0.1, 1.3];

test("a point lies on the ray through its pixel", () => {
    const seen = camera();
    const [x, y] = seen.pixel(POINT)!;
    const ray = seen.ray(x, y);
    const away = dot(sub(POINT, ray.origin), ray.way);
    assert.ok(distance(along(ray.origin, ray.way, away), POINT) < 1e-9);
});

test("what is under the pointer stays there while one zooms", () => {
    const seen = camera();
    const [, , toward] = seen.axes;
    const ray = seen.ray(700, 120);
    const depth = seen.away / -dot(ray.way, toward);
    const fixed = along(ray.origin, ray.way, depth);
    for (const factor of [0.5, 0.8, 3]) {
        seen.zoom(factor, seen.ray(700, 120));
        const [x, y] = seen.pixel(fixed)!;
        assert.ok(Math.hypot(x - 700, y - 120) < 1e-6);
    }
});

test("a shift moves what is at the depth of the target with the mouse", () => {
    const seen = camera();
    const [x, y] = seen.pixel(seen.target)!;
    const point = seen.target;
    seen.shift(31, -17);
    const [a, b] = seen.pixel(point)!;
    assert.ok(Math.hypot(a - x - 31, b - y + 17) < 1e-6);
});

test("turning keeps the target in the middle, the distance, and the vertical upright", () => {
    const seen = camera();
    const { away } = seen;
    for (let k = 0; k < 50; k += 1) seen.turn(0.1, 0.2);
    const [x, y] = seen.pixel(seen.target)!;
    assert.ok(Math.hypot(x - 450, y - 250) < 1e-6);
    assert.ok(Math.abs(seen.away - away) < 1e-9);
    assert.ok(Math.abs(seen.axes[0][2]) < 1e-9);
});
