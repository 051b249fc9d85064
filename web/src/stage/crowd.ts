// A large mechanism: a ball at the centre of mass of each body, and lines between those that are joined.
//
// Balls are points whose pixels are shaded as a sphere's: fifty thousand meshes would be millions of triangles.

import {
    BufferAttribute,
    BufferGeometry,
    Color,
    DynamicDrawUsage,
    Group,
    LineBasicMaterial,
    LineSegments,
    Points,
    ShaderMaterial,
    Vector2,
} from "three";
import type { WebGLRenderer } from "three";
import type { Ray } from "../maths.ts";
import { POSE } from "../protocol.ts";
import type { Scene, Vec3 } from "../protocol.ts";
import { colorOf, FREE } from "../tree.ts";
import type { Tree } from "../tree.ts";
import type { Poses } from "./poses.ts";

const CHOSEN = new Color(0x2f7fd6);
const PLAIN = new Color(0x8fa3b8);
const LINE = 0x77808a;

const VERTEX = `
attribute vec3 tint;
uniform float radius, height;
varying vec3 shade;
void main() {
    vec4 seen = modelViewMatrix * vec4(position, 1.0);
    gl_Position = projectionMatrix * seen;
    gl_PointSize = max(radius * height * projectionMatrix[1][1] / gl_Position.w, 1.5);
    shade = tint;
}`;
const FRAGMENT = `
varying vec3 shade;
void main() {
    vec2 at = 2.0 * gl_PointCoord - 1.0;
    float square = dot(at, at);
    if (square > 1.0) discard;
    vec3 normal = vec3(at.x, -at.y, sqrt(1.0 - square));
    gl_FragColor = vec4(shade * (0.5 + 0.6 * max(dot(normal, vec3(0.35, 0.55, 0.76)), 0.0)), 1.0);
    #include <colorspace_fragment>
}`;

export class Crowd {
    readonly group = new Group();
    readonly radius: number;
    private readonly places: Float32Array;
    private readonly tints: Float32Array;
    private readonly balls: Points<BufferGeometry, ShaderMaterial>;
    private readonly lines: LineSegments<BufferGeometry, LineBasicMaterial>;
    private readonly centres: Float32Array;
    private whole = true; // whether all are to be placed

    constructor(readonly scene: Scene) {
        this.centres = scene.centres!;
        this.radius = scene.tree?.radius ?? 1;
        const count = this.centres.length / 3;
        this.places = new Float32Array(3 * count);
        this.tints = new Float32Array(3 * count);
        const places = new BufferAttribute(this.places, 3).setUsage(DynamicDrawUsage);
        const balls = new BufferGeometry();
        balls.setAttribute("position", places);
        balls.setAttribute("tint", new BufferAttribute(this.tints, 3));
        const material = new ShaderMaterial({
            vertexShader: VERTEX,
            fragmentShader: FRAGMENT,
            uniforms: { radius: { value: this.radius }, height: { value: 1 } },
        });
        this.balls = new Points(balls, material);
        const size = new Vector2();
        this.balls.onBeforeRender = (renderer: WebGLRenderer) => {
            material.uniforms.height.value = renderer.getDrawingBufferSize(size).y;
            material.uniformsNeedUpdate = true;
        };
        const pairs: number[] = [];
        scene.carriedBy!.forEach((carrier, body) => carrier >= 0 && pairs.push(carrier, body));
        const joined = new BufferGeometry();
        joined.setAttribute("position", places);
        joined.setIndex(pairs);
        this.lines = new LineSegments(joined, new LineBasicMaterial({ color: LINE, fog: false }));
        for (const one of [this.balls, this.lines]) {
            one.frustumCulled = false;
            this.group.add(one);
        }
    }

    dispose(): void {
        for (const one of [this.balls, this.lines]) {
            one.geometry.dispose();
            one.material.dispose();
        }
    }

    /** Leave out the lines, which take half of the time of a picture where the processor draws it. */
    simplify(plain: boolean): void {
        this.lines.visible = !plain;
    }

    /** Move what has moved. */
    place(poses: Poses): void {
        const { tree } = poses;
        if (!tree) return;
        const stretches = this.whole ? [0, tree.order.length] : tree.moved;
        this.whole = false;
        for (let k = 0; k < stretches.length; k += 2)
            for (let rank = stretches[k]; rank < stretches[k + 1]; rank += 1) this.put(tree.order[rank], tree.numbers);
        if (stretches.length) this.balls.geometry.attributes.position.needsUpdate = true;
    }

    private put(body: number, n: Float64Array): void {
        const at = POSE * body;
        const to = 3 * body;
        const [x, y, z] = [this.centres[to], this.centres[to + 1], this.centres[to + 2]];
        const [w, a, b, c] = [n[at + 3], n[at + 4], n[at + 5], n[at + 6]];
        const tx = 2 * (b * z - c * y);
        const ty = 2 * (c * x - a * z);
        const tz = 2 * (a * y - b * x);
        this.places[to] = n[at] + x + w * tx + b * tz - c * ty;
        this.places[to + 1] = n[at + 1] + y + w * ty + c * tx - a * tz;
        this.places[to + 2] = n[at + 2] + z + w * tz + a * ty - b * tx;
    }

    /** Colour clusters, of a tree if they are shown, and bodies that are chosen or under the pointer, by number. */
    paint(tree: Tree | null, over: number, chosen: ReadonlySet<number>): void {
        const color = new Color();
        const shades = new Map<number, Color>();
        const shade = (cluster: number) => {
            let found = shades.get(cluster);
            if (!found) shades.set(cluster, (found = new Color().setRGB(...colorOf(cluster), "srgb")));
            return found;
        };
        const free = new Color().setRGB(...FREE, "srgb");
        for (let body = 0; 3 * body < this.tints.length; body += 1) {
            if (!tree) color.copy(PLAIN);
            else color.copy(tree.free[body] ? free : shade(tree.clusters[body]));
            if (chosen.has(body)) color.lerp(CHOSEN, 0.8);
            else if (body === over) color.offsetHSL(0, 0, 0.15);
            color.toArray(this.tints, 3 * body);
        }
        this.balls.geometry.attributes.tint.needsUpdate = true;
    }

    /** The bodies that a ray hits, and how far on. */
    hits({ origin, way }: Ray): { body: number; near: number; depth: number }[] {
        const found = [];
        const square = this.radius * this.radius;
        for (let body = 0, k = 0; k < this.places.length; body += 1, k += 3) {
            const x = this.places[k] - origin[0];
            const y = this.places[k + 1] - origin[1];
            const z = this.places[k + 2] - origin[2];
            const depth = x * way[0] + y * way[1] + z * way[2];
            const off = x * x + y * y + z * z - depth * depth;
            if (off > square || depth <= 0) continue;
            found.push({ body, near: depth - Math.sqrt(square - off), depth });
        }
        return found;
    }

    /** Lowest and highest coordinates of all balls, or of one. */
    corners(only: number): [Vec3, Vec3] {
        const low: Vec3 = [Infinity, Infinity, Infinity];
        const high: Vec3 = [-Infinity, -Infinity, -Infinity];
        const end = only < 0 ? this.places.length : 3 * (only + 1);
        for (let k = only < 0 ? 0 : 3 * only; k < end; k += 3) {
            for (let i = 0; i < 3; i += 1) {
                low[i] = Math.min(low[i], this.places[k + i] - this.radius);
                high[i] = Math.max(high[i], this.places[k + i] + this.radius);
            }
        }
        return [low, high];
    }
}
