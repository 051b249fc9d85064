// The camera: it turns about a point, shifts, and zooms towards what is under the pointer.

import { PerspectiveCamera, Vector3 } from "three";
import { add, along, cross, dot, norm, scale, sub, unit } from "../maths.ts";
import type { Ray } from "../maths.ts";
import type { Vec3, View } from "../protocol.ts";

const FIELD = 38; // degrees, upright
const STEEP = 0.9995; // cosine between the look and the vertical

const tuple = (v: Vector3): Vec3 => [v.x, v.y, v.z];

export class Camera {
    readonly three = new PerspectiveCamera(FIELD, 1, 0.01, 1000);
    /** The point that it looks at and turns about, on the page. */
    target: Vec3 = [0, 0, 0];
    up: Vec3 = [0, 0, 1];
    changed: () => void = () => undefined;
    width = 1;
    height = 1;

    get eye(): Vec3 {
        return tuple(this.three.position);
    }

    get away(): number {
        return norm(sub(this.eye, this.target));
    }

    /** Unit vectors to the right, up in the picture, and towards the eye. */
    get axes(): [Vec3, Vec3, Vec3] {
        const m = this.three.matrixWorld.elements;
        return [
            [m[0], m[1], m[2]],
            [m[4], m[5], m[6]],
            [m[8], m[9], m[10]],
        ];
    }

    resize(width: number, height: number): void {
        [this.width, this.height] = [Math.max(width, 1), Math.max(height, 1)];
        this.three.aspect = this.width / this.height;
        this.three.updateProjectionMatrix();
        this.changed();
    }

    private set(eye: Vec3, up: Vec3): void {
        this.three.position.set(...eye);
        this.three.up.set(...up);
        this.three.lookAt(...this.target);
        const away = this.away;
        this.three.near = 0.005 * away;
        this.three.far = 200 * away;
        this.three.updateProjectionMatrix();
        this.three.updateMatrixWorld();
        this.changed();
    }

    /** Look at a sphere from a direction; toward points from it to the eye. */
    frame(middle: Vec3, radius: number, toward: Vec3, up: Vec3): void {
        const half = ((FIELD / 2) * Math.PI) / 180;
        const narrow = Math.min(1, this.width / this.height);
        const away = (1.12 * radius) / Math.sin(half) / Math.max(narrow, 0.2);
        this.target = middle;
        this.set(along(middle, unit(toward), away), Math.abs(dot(unit(toward), this.up)) > 0.99 ? up : this.up);
    }

    /** Stand at a point and look at another one. */
    stand(eye: Vec3, target: Vec3, up: Vec3): void {
        this.target = target;
        this.set(eye, up);
    }

    /** Look from a side at a sphere. */
    look(view: View, middle: Vec3, radius: number): void {
        this.frame(middle, radius, view.toward, view.up);
    }

    /** Turn about the target by angles of the mouse, rad. */
    turn(right: number, upward: number): void {
        const arm = sub(this.eye, this.target);
        const away = norm(arm);
        const [across] = this.axes;
        const level = Math.abs(dot(unit(arm), this.up)) > 0.98 ? across : unit(cross(this.up, arm));
        const turned = about(arm, this.up, -right);
        const axis = about(level, this.up, -right);
        const tilted = about(turned, axis, -upward);
        const steep = Math.abs(dot(unit(tilted), this.up)) > STEEP;
        this.set(along(this.target, unit(steep ? turned : tilted), away), this.up);
    }

    /** Shift so that what is at the depth of the target follows the mouse, by pixels. */
    shift(dx: number, dy: number): void {
        const perPixel = (2 * this.away * Math.tan(((FIELD / 2) * Math.PI) / 180)) / this.height;
        const [right, up] = this.axes;
        this.carry(add(scale(right, -dx * perPixel), scale(up, dy * perPixel)));
    }

    /** Move the camera and its target. */
    carry(by: Vec3): void {
        this.target = add(this.target, by);
        this.three.position.set(...add(this.eye, by));
        this.three.updateMatrixWorld();
        this.changed();
    }

    /** Zoom by a factor; what a ray meets at the depth of the target stays under the pointer. */
    zoom(factor: number, ray: Ray): void {
        const [, , toward] = this.axes;
        const depth = this.away / Math.max(-dot(ray.way, toward), 0.1);
        const fixed = along(ray.origin, ray.way, depth);
        const eye = add(fixed, scale(sub(this.eye, fixed), factor));
        this.target = add(fixed, scale(sub(this.target, fixed), factor));
        this.set(eye, tuple(this.three.up));
    }

    /** The ray through a pixel of the picture. */
    ray(x: number, y: number): Ray {
        const half = Math.tan(((FIELD / 2) * Math.PI) / 180);
        const [right, up, toward] = this.axes;
        const a = ((2 * x) / this.width - 1) * half * this.three.aspect;
        const b = (1 - (2 * y) / this.height) * half;
        return { origin: this.eye, way: unit(sub(add(scale(right, a), scale(up, b)), toward)) };
    }

    /** The pixel where a point of the page is seen, and its depth; null behind the eye. */
    pixel(place: Vec3): [number, number, number] | null {
        const [right, up, toward] = this.axes;
        const arm = sub(place, this.eye);
        const depth = -dot(arm, toward);
        if (depth <= this.three.near) return null;
        const half = Math.tan(((FIELD / 2) * Math.PI) / 180) * depth;
        const x = (dot(arm, right) / (half * this.three.aspect) + 1) / 2;
        const y = (1 - dot(arm, up) / half) / 2;
        return [x * this.width, y * this.height, depth];
    }

    /** The length of a pixel at a point, m. */
    pixelAt(place: Vec3): number {
        const [, , toward] = this.axes;
        const depth = Math.max(-dot(sub(place, this.eye), toward), 1e-9);
        return (2 * depth * Math.tan(((FIELD / 2) * Math.PI) / 180)) / this.height;
    }
}

/** A vector turned about an axis, a unit vector, by an angle. */
function about(v: Vec3, axis: Vec3, angle: number): Vec3 {
    const c = Math.cos(angle);
    const s = Math.sin(angle);
    const part = scale(axis, dot(axis, v) * (1 - c));
    return add(add(scale(v, c), scale(cross(axis, v), s)), part);
}
