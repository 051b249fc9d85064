// Beams: each one mesh, whose sections are placed between its nodes for each frame, and coloured by a quantity.

import {
    BufferAttribute,
    BufferGeometry,
    Color,
    DoubleSide,
    DynamicDrawUsage,
    Group,
    Mesh,
    MeshLambertMaterial,
} from "three";
import { crossings, rotate } from "../maths.ts";
import type { Ray } from "../maths.ts";
import type { Quat, Scene, Sweep, Vec3 } from "../protocol.ts";
import { screw } from "../screws.ts";
import type { Pose } from "../screws.ts";
import type { Picked } from "../state.ts";
import type { Poses } from "./poses.ts";

const CHOSEN = new Color(0x2f7fd6);

/** The least and the largest value that was shown, of all beams. */
export type Range = { low: number; high: number };

type Drawn = {
    sweep: Sweep;
    mesh: Mesh<BufferGeometry, MeshLambertMaterial>;
    places: Float32Array; // of the straight beam
    normals: Float32Array;
    ring: Uint16Array; // of each vertex
    first: number; // of its rings among the values of frames
    plain: Color;
};

export class Beams {
    readonly group = new Group();
    private readonly drawn: Drawn[] = [];
    private readonly scale: Color[];
    private range: Range | null = null;

    constructor(private readonly scene: Scene) {
        this.scale = scene.scale.map(([r, g, b]) => new Color().setRGB(r, g, b, "srgb"));
        let first = 0;
        for (const sweep of scene.sweeps) {
            const places = scene.vertices[sweep.mesh];
            const normals = scene.normals[sweep.mesh]!;
            const each = (sweep.rings.length - 1) / (sweep.carriers.length - 1);
            const ring = Uint16Array.from({ length: places.length / 3 }, (_, k) => Math.round(each * places[3 * k]));
            const geometry = new BufferGeometry();
            for (const name of ["position", "normal", "color"]) {
                const attribute = new BufferAttribute(new Float32Array(places.length), 3);
                attribute.setUsage(DynamicDrawUsage);
                geometry.setAttribute(name, attribute);
            }
            geometry.setIndex(new BufferAttribute(scene.indices[sweep.mesh], 1));
            const material = new MeshLambertMaterial({ vertexColors: true, side: DoubleSide, fog: false });
            const mesh = new Mesh(geometry, material);
            mesh.frustumCulled = false;
            mesh.castShadow = true;
            this.group.add(mesh);
            const [r, g, b] = sweep.color;
            const plain = new Color().setRGB(r, g, b, "srgb");
            this.drawn.push({ sweep, mesh, places, normals, ring, first, plain });
            first += sweep.rings.length;
        }
    }

    dispose(): void {
        for (const { mesh } of this.drawn) {
            mesh.geometry.dispose();
            mesh.material.dispose();
        }
    }

    /** Move all beams to the poses of the nodes. */
    place(poses: Poses): void {
        for (const { sweep, mesh, places, normals, ring } of this.drawn) {
            const frames = sectionsOf(sweep, poses).map(({ at: place, turn }) => ({ place, axes: axesOf(turn) }));
            const at = mesh.geometry.getAttribute("position") as BufferAttribute;
            const facing = mesh.geometry.getAttribute("normal") as BufferAttribute;
            const [p, n] = [at.array as Float32Array, facing.array as Float32Array];
            for (let k = 0; k < p.length; k += 3) {
                const { place, axes } = frames[ring[k / 3]];
                const [x, y, z] = axes;
                for (let i = 0; i < 3; i += 1) {
                    p[k + i] = place[i] + y[i] * places[k + 1] + z[i] * places[k + 2];
                    n[k + i] = x[i] * normals[k] + y[i] * normals[k + 1] + z[i] * normals[k + 2];
                }
            }
            at.needsUpdate = facing.needsUpdate = true;
            mesh.geometry.boundingSphere = null;
        }
        this.tint(poses.frame?.beams ?? null);
    }

    /** Forget the range of what was shown, when another quantity is. */
    forget(): void {
        this.range = null;
    }

    get shown(): Range | null {
        return this.range;
    }

    private tint(values: Float32Array | null): void {
        if (!values?.length) {
            for (const one of this.drawn) this.fill(one, () => one.plain);
            return;
        }
        for (const value of values) {
            if (!Number.isFinite(value)) continue;
            this.range ??= { low: value, high: value };
            this.range.low = Math.min(this.range.low, value);
            this.range.high = Math.max(this.range.high, value);
        }
        const { low, high } = this.range ?? { low: 0, high: 1 };
        const last = this.scale.length - 1;
        const color = new Color();
        for (const one of this.drawn) {
            const colors = one.sweep.rings.map((_, k) => {
                const value = values[one.first + k];
                if (!Number.isFinite(value)) return one.plain;
                const part = high > low ? (last * (value - low)) / (high - low) : 0;
                const from = Math.min(Math.floor(part), last - 1);
                return color
                    .copy(this.scale[from])
                    .lerp(this.scale[from + 1], part - from)
                    .clone();
            });
            this.fill(one, (k) => colors[one.ring[k]]);
        }
    }

    private fill({ mesh, ring }: Drawn, colorOf: (vertex: number) => Color): void {
        const attribute = mesh.geometry.getAttribute("color") as BufferAttribute;
        for (let k = 0; k < ring.length; k += 1) {
            const { r, g, b } = colorOf(k);
            attribute.setXYZ(k, r, g, b);
        }
        attribute.needsUpdate = true;
    }

    /** Light up what is chosen and what is under the pointer. */
    paint(names: ReadonlySet<string>, over: string): void {
        for (const { sweep, mesh } of this.drawn) {
            const key = `beams ${sweep.name}`;
            const strength = names.has(key) ? 0.45 : key === over ? 0.12 : 0;
            mesh.material.emissive.copy(CHOSEN).multiplyScalar(strength);
        }
    }

    /** Make beams transparent, or opaque again. */
    clear(clear: boolean): void {
        for (const { mesh } of this.drawn) {
            mesh.material.transparent = clear;
            mesh.material.opacity = clear ? 0.5 : 1;
            mesh.material.needsUpdate = true;
        }
    }

    /** What a ray hits: the beam, its nearest node, and the depths of its surface and of its middle. */
    hits(ray: Ray): (Picked & { body: number; near: number; depth: number; joint: boolean })[] {
        return this.drawn.flatMap(({ sweep, mesh, places }) => {
            const at = (mesh.geometry.getAttribute("position") as BufferAttribute).array as Float32Array;
            const indices = this.scene.indices[sweep.mesh];
            const depths = crossings(at, indices, ray);
            if (depths === null) return [];
            const place = [0, 1, 2].map((k) => ray.origin[k] + depths[0] * ray.way[k]);
            let least = Infinity;
            let node = 0;
            for (let k = 0; k < at.length; k += 3) {
                const away = Math.hypot(at[k] - place[0], at[k + 1] - place[1], at[k + 2] - place[2]);
                if (away < least) [least, node] = [away, Math.round(places[k])];
            }
            const body = sweep.carriers[node];
            const depth = (depths[0] + depths[1]) / 2;
            return [{ table: "beams", name: sweep.name, body, near: depths[0], depth, joint: false }];
        });
    }

    /** The places of all vertices, for the box about everything. */
    *corners(): Generator<Vec3> {
        for (const { mesh } of this.drawn) {
            const at = (mesh.geometry.getAttribute("position") as BufferAttribute).array as Float32Array;
            for (let k = 0; k < at.length; k += 3) yield [at[k], at[k + 1], at[k + 2]];
        }
    }
}

const axesOf = (turn: Quat): Vec3[] => [rotate(turn, [1, 0, 0]), rotate(turn, [0, 1, 0]), rotate(turn, [0, 0, 1])];

/** The sections of a beam at its rings, on the page. */
export function sectionsOf(sweep: Sweep, poses: Pick<Poses, "position" | "rotation">): Pose[] {
    const nodes = sweep.carriers.map((body) => ({ at: poses.position(body), turn: poses.rotation(body) }));
    const segments = nodes.slice(1).map((node, k) => screw(nodes[k], node));
    return sweep.rings.map((x) => {
        const k = Math.min(Math.floor(x), segments.length - 1);
        return segments[k](x - k);
    });
}
