// What a pixel of the picture points at: elements, joints, and points of bodies.
//
// Markers within 14 pixels come first, then surfaces. Where ends of several bodies coincide, a second click leaves out
// the body of the first.

import { distance, dot, onPlane, onRay, rotate, scale } from "./maths.ts";
import type { End, Joint, Vec3 } from "./protocol.ts";
import type { Picked } from "./state.ts";
import type { Stage } from "./stage/stage.ts";

const NEAR = 14; // px

/** A point of a body. point: in its frame. place: on the page. marker: the name of the one there, or "". */
export type Target = { body: number; name: string; point: Vec3; place: Vec3; marker: string };

export const endOf = (target: Target): End =>
    target.marker ? { marker: target.marker } : { body: target.name, point: target.point };

/** The name of a target in a hint. */
export const targetText = (target: Target): string => target.marker || target.name;

/** The marker or end within 14 pixels that is nearest; without: a body that is left out, -1 for none. */
export function markerAt(stage: Stage, x: number, y: number, without = -1, only = -1): Target | null {
    const { scene, poses, camera } = stage;
    if (!scene) return null;
    let best: Target | null = null;
    let least = Infinity;
    const front =
        stage.pieces?.hits(camera.ray(x, y), poses).find((hit) => hit.body >= 0 && hit.body !== without)?.body ?? -1;
    for (const { name, body, position } of scene.points) {
        if (body === without || (only >= 0 && body !== only)) continue;
        const place = poses.place(body, position);
        const seen = camera.pixel(place);
        if (!seen) continue;
        const away = Math.hypot(seen[0] - x, seen[1] - y);
        if (away > NEAR) continue;
        const rank = away + (body === front ? 0 : 1) + (name ? 0 : 0.5) + (body === poses.count ? 0.7 : 0);
        if (rank < least) {
            least = rank;
            best = { body, name: scene.carriers[body], point: position, place, marker: name };
        }
    }
    return best;
}

/** The point of a body at a pixel: a marker, or the middle of the material under the pointer. */
export function pointAt(stage: Stage, x: number, y: number, without = -1): Target | null {
    const marker = markerAt(stage, x, y, without);
    if (marker) return marker;
    const { scene, poses, camera } = stage;
    const ray = camera.ray(x, y);
    const hit = stage.pieces?.hits(ray, poses).find((one) => one.body >= 0 && one.body !== without);
    if (!scene || !hit) return null;
    const place = onRay(ray, hit.depth);
    return { body: hit.body, name: scene.carriers[hit.body], point: poses.local(hit.body, place), place, marker: "" };
}

/** The body, joint or other element at a pixel. */
export function elementAt(stage: Stage, x: number, y: number): (Picked & { body: number; near: number }) | null {
    const hits = stage.pieces?.hits(stage.camera.ray(x, y), stage.poses) ?? [];
    return hits.find((hit) => hit.table !== "") ?? null;
}

/** Where a joint is, on the page. */
export function jointPlace(stage: Stage, joint: Joint): Vec3 {
    return stage.poses.place(joint.carriers[0], joint.point);
}

/** The joint at a pixel: the nearest within 14 pixels, or that of a glyph under the pointer. */
export function jointAt(
    stage: Stage,
    x: number,
    y: number,
    fits: (joint: Joint) => boolean = () => true,
): Joint | null {
    const { scene, poses, camera } = stage;
    if (!scene) return null;
    const hit = stage.pieces?.hits(camera.ray(x, y), poses)[0];
    const direct = hit?.joint ? scene.joints.find((joint) => joint.name === hit.name && fits(joint)) : undefined;
    if (direct) return direct;
    let best: Joint | null = null;
    let least = NEAR + 4;
    for (const joint of scene.joints) {
        const seen = camera.pixel(jointPlace(stage, joint));
        if (!seen || !fits(joint)) continue;
        const away = Math.hypot(seen[0] - x, seen[1] - y);
        if (away < least) [best, least] = [joint, away];
    }
    return best;
}

export type Plane = { point: Vec3; normal: Vec3 };

/** The plane in which one draws: that of a plane mechanism, or across the axis along which one looks. */
export function workPlane(stage: Stage): Plane {
    const { scene, poses, camera } = stage;
    const [, , toward] = camera.axes;
    let normal: Vec3 = [0, 0, 0];
    const hinge = scene?.plane ? scene.joints.find((joint) => joint.axis !== null) : undefined;
    const across = hinge?.axis ? rotate(poses.rotation(hinge.carriers[0]), hinge.axis) : normal;
    if (Math.abs(dot(across, toward)) > 0.3) normal = dot(across, toward) > 0 ? across : scale(across, -1);
    else {
        const axis = [0, 1, 2].reduce((best, k) => (Math.abs(toward[k]) > Math.abs(toward[best]) ? k : best), 0);
        normal[axis] = Math.sign(toward[axis]) || 1;
    }
    const held = scene?.points.find((one) => one.body < poses.count);
    const point = held ? poses.place(held.body, held.position) : poses.toPage([0, 0, 0]);
    return { point, normal };
}

/** Where a pixel meets the plane, on the grid of the world where it snaps; null where it does not. */
export function planeAt(stage: Stage, plane: Plane, x: number, y: number, snap: boolean): Vec3 | null {
    const found = onPlane(stage.camera.ray(x, y), plane.point, plane.normal);
    return found && snap ? snapped(stage, plane, found) : found;
}

function snapped(stage: Stage, plane: Plane, place: Vec3): Vec3 {
    const axis = plane.normal.findIndex((x) => Math.abs(x) > 0.9999);
    if (axis < 0) return place;
    const world = stage.poses.toWorld(place);
    const rounded = world.map((value, k) =>
        k === axis ? value : Number((Math.round(value / stage.cell) * stage.cell).toPrecision(12)),
    ) as Vec3;
    return stage.poses.toPage(rounded);
}

/** A place in the world, in round numbers of the digits that pictures have. */
export function tidy(stage: Stage, place: Vec3): Vec3 {
    const step = 10 ** Math.floor(Math.log10(1e-6 * stage.size));
    return stage.poses.toWorld(place).map((x) => Number((step * Math.round(x / step)).toPrecision(12)) + 0) as Vec3;
}

/** The world axis nearest to a direction, such as that of a hinge drawn in a plane. */
export function axisOf(normal: Vec3): Vec3 {
    const axis = [0, 1, 2].reduce((best, k) => (Math.abs(normal[k]) > Math.abs(normal[best]) ? k : best), 0);
    if (Math.abs(normal[axis]) < 0.9999) return normal;
    const found: Vec3 = [0, 0, 0];
    found[axis] = 1;
    return found;
}

/** Whether two places are the same to the eye. */
export const together = (stage: Stage, a: Vec3, b: Vec3): boolean => distance(a, b) < 1e-6 * stage.size;

/** The normal of the plane in which the mouse drags: that of a plane mechanism seen from its side, or of the picture. */
export function dragNormal(stage: Stage): Vec3 {
    const [, , toward] = stage.camera.axes;
    const { normal } = workPlane(stage);
    return stage.scene?.plane && Math.abs(dot(normal, toward)) > 0.3 ? normal : toward;
}

/** A place that follows the mouse in the plane through where it was taken hold of. */
export function dragged(stage: Stage, held: Vec3, x: number, y: number): Vec3 | null {
    return onPlane(stage.camera.ray(x, y), held, dragNormal(stage));
}
