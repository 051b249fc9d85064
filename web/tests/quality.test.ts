import assert from "node:assert/strict";
import { test } from "node:test";
import { Quality } from "../src/stage/quality.ts";

/** Draw pictures that take as long as a function of the level says; the time at the end. */
function draw(quality: Quality, takes: (level: number) => number, count: number, begin = 0): number {
    let moment = begin;
    for (let k = 0; k < count; k += 1) {
        moment += takes(quality.level);
        quality.note(moment);
    }
    return moment;
}

test("slow pictures become plainer until they are fast enough", () => {
    const quality = new Quality(false);
    draw(quality, (level) => [90, 50, 25, 15][level], 200);
    assert.equal(quality.level, 2);
});

test("a step down that does not help is taken back", () => {
    const quality = new Quality(false);
    draw(quality, (level) => (level === 0 ? 90 : 50), 100);
    assert.equal(quality.level, 1);
});

test("quality comes back when pictures are fast", () => {
    const quality = new Quality(false);
    const moment = draw(quality, (level) => [90, 50, 25, 15][level], 100);
    draw(quality, () => 16, 2000, moment + 30_000);
    assert.equal(quality.level, 0);
});
