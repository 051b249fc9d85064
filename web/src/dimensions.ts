// Dimensions: distances between points that stay in the picture, and can be changed where both are on one body.

import { signal } from "@preact/signals";
import { whenPointsMove } from "./anchors.ts";
import { distance } from "./maths.ts";
import type { Scene, Vec3 } from "./protocol.ts";
import { look } from "./look.ts";
import { chosen } from "./state.ts";

export type PointOf = { body: string; point: Vec3 };
export type Dimension = { from: PointOf; to: PointOf };

/** Those that were put by the ruler. */
export const dimensions = signal<Dimension[]>([]);
/** The one whose number is being typed. */
export const typing = signal<{ dimension: Dimension; x: number; y: number } | null>(null);

whenPointsMove((move) => {
    const put = ({ body, point }: PointOf): PointOf => ({ body, point: move(body, point) });
    dimensions.value = dimensions.peek().map(({ from, to }) => ({ from: put(from), to: put(to) }));
});

const same = (a: Vec3, b: Vec3) => distance(a, b) < 1e-9;

/** The points of a body that are apart from each other, in its frame. */
export function pointsOf(of: Scene, body: string): Vec3[] {
    const index = of.carriers.indexOf(body);
    const found: Vec3[] = [];
    for (const { body: at, position } of of.points) {
        if (at === index && !found.some((one) => same(one, position))) found.push(position);
    }
    return found;
}

/** The two points of a body that are farthest apart: its length; null where it has none. */
export function lengthOf(of: Scene, body: string): Dimension | null {
    const points = pointsOf(of, body);
    let best: [Vec3, Vec3] | null = null;
    let most = 1e-9;
    for (let a = 0; a < Math.min(points.length, 40); a += 1) {
        for (let b = a + 1; b < Math.min(points.length, 40); b += 1) {
            const away = distance(points[a], points[b]);
            if (away > most) [best, most] = [[points[a], points[b]], away];
        }
    }
    return best && { from: { body, point: best[0] }, to: { body, point: best[1] } };
}

/** What is drawn: those of the ruler, and the lengths of bodies that are chosen or, where wanted, of all. */
export function drawn(of: Scene): Dimension[] {
    const known = dimensions.peek().filter((one) => [one.from, one.to].every((end) => of.carriers.includes(end.body)));
    const one = chosen.peek();
    const bodies = look.peek().dimensions
        ? of.carriers.slice(0, Math.min(of.carriers.length - 1, 60))
        : one?.table === "bodies"
          ? [one.name]
          : [];
    return [...known, ...bodies.flatMap((body) => lengthOf(of, body) ?? [])];
}
