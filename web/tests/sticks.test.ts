import assert from "node:assert/strict";
import { test } from "node:test";
import { pushed, waysOf } from "../src/sticks.ts";

const button = (value: number) => ({ pressed: value > 0.5, touched: false, value });
const pad = (axes: number[], buttons: number[] = [], mapping: GamepadMappingType = "standard") => ({
    axes,
    buttons: buttons.map(button),
    mapping,
});

test("a stick near rest is at rest, and one at its end is there", () => {
    for (const value of [0, 0.1, -0.12, NaN, undefined]) assert.equal(pushed(value), 0);
    assert.equal(pushed(1), 1);
    assert.equal(pushed(-1), -1);
    assert.ok(pushed(0.5) > 0 && pushed(0.5) < 0.5);
});

test("sticks, triggers and the first button of a controller", () => {
    const ways = waysOf(pad([1, -1, 0, 1], [1, 0, 0, 0, 0, 0, 0, 1]));
    assert.deepEqual(ways, { right: 1, ahead: 1, up: 1, turn: 0, tilt: 1, plays: true });
    assert.equal(waysOf(pad([0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 1, 0])).up, -1);
    assert.equal(waysOf(pad([])).right, 0);
});

test("a space mouse has six axes", () => {
    const ways = waysOf(pad([1, 0, -1, 0, 0, 1], [], ""));
    assert.deepEqual(ways, { right: 1, ahead: -0, up: 1, turn: 1, tilt: 0, plays: false });
});
