// Trees that are told what moved: poses, clusters, colours.

import assert from "node:assert/strict";
import { test } from "node:test";
import { add, product, rotate } from "../src/maths.ts";
import type { Quat, TreeFrame, Vec3 } from "../src/protocol.ts";
import { colorOf, GROUND, Tree } from "../src/tree.ts";

const CARRIERS = Int32Array.from([-1, 0, 1, 1, 0, -1, 5, 3]);
const ORIGIN: Vec3 = [10, -20, 5];
let seed = 7;
const random = () => (seed = (16807 * seed) % 2147483647) / 2147483647 - 0.5;

function placed(bodies: number[]): { frame: TreeFrame; at: Map<number, [Vec3, Quat]> } {
    const at = new Map<number, [Vec3, Quat]>();
    for (const body of bodies) {
        const q = [random(), random(), random(), random()];
        const size = Math.hypot(...q);
        at.set(body, [[random(), random(), random()], q.map((x) => x / size) as Quat]);
    }
    const places = Float64Array.from(bodies.flatMap((body) => at.get(body)!.flat()));
    const facts = {} as TreeFrame["facts"];
    return { frame: { bodies: Uint32Array.from(bodies), places, free: null, facts }, at };
}

function pose(body: number, at: Map<number, [Vec3, Quat]>): [Vec3, Quat] {
    const [place, turn] = at.get(body)!;
    if (CARRIERS[body] < 0) return [place, turn];
    const [base, around] = pose(CARRIERS[body], at);
    return [add(base, rotate(around, place)), product(around, turn)];
}

function check(tree: Tree, at: Map<number, [Vec3, Quat]>): void {
    for (const body of CARRIERS.keys()) {
        const [place, turn] = pose(body, at);
        const found = tree.numbers.subarray(7 * body, 7 * body + 7);
        place.forEach((x, k) => assert.ok(Math.abs(found[k] + ORIGIN[k] - x) < 1e-12));
        const same = turn.reduce((sum, x, k) => sum + x * found[3 + k], 0);
        assert.ok(Math.abs(Math.abs(same) - 1) < 1e-12);
    }
}

test("poses follow from what moved, and what hangs on it is moved with it", () => {
    const tree = new Tree(CARRIERS);
    const first = placed([...CARRIERS.keys()]);
    tree.take(first.frame, ORIGIN);
    check(tree, first.at);
    for (const bodies of [[3], [7, 3, 1], [6], [0], [4, 2]]) {
        const next = placed(bodies);
        for (const [body, one] of next.at) first.at.set(body, one);
        tree.take(next.frame, ORIGIN);
        check(tree, first.at);
    }
    tree.take(placed([]).frame, ORIGIN);
    assert.deepEqual(tree.moved, []);
    tree.take(placed([7]).frame, ORIGIN);
    assert.equal(tree.moved[1] - tree.moved[0], 1);
});

test("bodies belong to the first body above them whose joint is free", () => {
    const tree = new Tree(CARRIERS);
    const { frame } = placed([...CARRIERS.keys()]);
    tree.take({ ...frame, free: Uint32Array.from([1, 3]) }, ORIGIN);
    assert.deepEqual([...tree.clusters], [GROUND, 1, 1, 3, GROUND, GROUND, GROUND, 3]);
    const changes = tree.changes;
    tree.take(placed([1]).frame, ORIGIN);
    assert.equal(tree.changes, changes);
    tree.take({ ...placed([1]).frame, free: Uint32Array.from([3]) }, ORIGIN);
    assert.deepEqual([...tree.clusters], [GROUND, GROUND, GROUND, 3, GROUND, GROUND, GROUND, 3]);
    assert.equal(tree.count, 1);
});

test("a long chain is arranged without recursion", () => {
    const count = 200_000;
    const tree = new Tree(Int32Array.from({ length: count }, (_, k) => k - 1));
    assert.equal(tree.order[count - 1], count - 1);
});

test("colours of clusters are colours, and differ", () => {
    const all = Array.from({ length: 500 }, (_, k) => colorOf(k));
    assert.ok(all.flat().every((x) => x >= 0 && x <= 1));
    assert.equal(new Set(all.map(String)).size, 500);
});
