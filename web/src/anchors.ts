// Points of bodies that something holds on to stay at their marker or joint when that is moved on its body.

import { distance } from "./maths.ts";
import type { Scene, Vec3 } from "./protocol.ts";
import { whenScene } from "./socket.ts";

let last: Scene | null = null;
const holders: ((move: (body: string, point: Vec3) => Vec3) => void)[] = [];

/** Be told, at each scene, where points of bodies have gone that were at its markers and ends of joints. */
export const whenPointsMove = (holder: (move: (body: string, point: Vec3) => Vec3) => void): void =>
    void holders.push(holder);

/** Where a point of a body is in another scene. */
export function moved(before: Scene, after: Scene, body: string, point: Vec3): Vec3 {
    const [old, now] = [before, after].map((of) => {
        const index = of.carriers.indexOf(body);
        return of.points.filter((one) => one.body === index);
    });
    const at = old.findIndex((one) => distance(one.position, point) < 1e-9);
    if (at < 0) return point;
    if (now.some((one) => distance(one.position, point) < 1e-12)) return point;
    const named = old[at].name && now.find((one) => one.name === old[at].name);
    return named ? named.position : old.length === now.length ? now[at].position : point;
}

whenScene((next) => {
    const before = last;
    last = next;
    if (!before) return;
    for (const holder of holders) holder((body, point) => moved(before, next, body, point));
});
