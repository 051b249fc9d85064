import assert from "node:assert/strict";
import { test } from "node:test";
import { moved } from "../src/anchors.ts";
import type { Scene, Vec3 } from "../src/protocol.ts";

const scene = (...points: [string, Vec3][]): Scene =>
    ({
        carriers: ["rod", "ground"],
        points: points.map(([name, position]) => ({ name, body: 0, position })),
    }) as unknown as Scene;

test("a point goes with its marker, and stays where there was none", () => {
    const before = scene(["start", [0, 0, 0]], ["end", [1, 0, 0]], ["", [1, 0, 0]]);
    const after = scene(["start", [0, 0, 0]], ["end", [2, 0, 0]], ["", [2, 0, 0]]);
    assert.deepEqual(moved(before, after, "rod", [1, 0, 0]), [2, 0, 0]);
    assert.deepEqual(moved(before, after, "rod", [0, 0, 0]), [0, 0, 0]);
    assert.deepEqual(moved(before, after, "rod", [0.3, 0, 0]), [0.3, 0, 0]);
});

test("an end of a joint without a name is found by its number", () => {
    assert.deepEqual(
        moved(scene(["", [1, 0, 0]], ["", [3, 0, 0]]), scene(["", [1, 0, 0]], ["", [4, 0, 0]]), "rod", [3, 0, 0]),
        [4, 0, 0],
    );
});
