import assert from "node:assert/strict";
import { test } from "node:test";
import { anglesOf, quatOf } from "../src/panels/angles.ts";
import { short, typedLength, withPrefix } from "../src/words.ts";

test("lengths are typed in mm unless a unit is given", () => {
    assert.equal(typedLength("30"), 0.03);
    assert.equal(typedLength(" 1,5 m"), 1.5);
    assert.equal(typedLength("2in"), 0.0508);
    assert.equal(typedLength("long"), null);
});

test("numbers have four digits, forces three and a prefix", () => {
    assert.equal(short(1e-15), "0");
    assert.equal(short(123456), "1.235e5");
    assert.equal(short(0.12345), "0.1235");
    assert.equal(withPrefix(1249.6, "N"), "1.25 kN");
    assert.equal(withPrefix(0.0321, "N m"), "32.1 mN m");
});

test("angles and quaternions are the same rotation, at a right angle about y too", () => {
    for (const angles of [
        [10, 20, 30],
        [-170, 80, 5],
        [25, 90, 0],
        [0, -90, 0],
    ] as const) {
        const back = anglesOf(quatOf([...angles]));
        back.forEach((angle, k) => assert.ok(Math.abs(angle - angles[k]) < 1e-5, `${back} is not ${angles}`));
    }
});
