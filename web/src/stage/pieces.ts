// The meshes of a scene: copies of equal meshes are one draw call, moved by writing their matrices.

import {
    BufferAttribute,
    BufferGeometry,
    Color,
    DoubleSide,
    DynamicDrawUsage,
    FrontSide,
    Group,
    InstancedBufferAttribute,
    InstancedMesh,
    MeshLambertMaterial,
    Sphere,
} from "three";
import { toCreasedNormals } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { add, conjugate, crossings, fromZ, norm, product, rotate, scale, sub } from "../maths.ts";
import type { Ray } from "../maths.ts";
import type { Quat, Scene, Vec3 } from "../protocol.ts";
import type { Picked } from "../state.ts";
import { colorOf, FREE } from "../tree.ts";
import type { Tree } from "../tree.ts";
import { Beams } from "./beams.ts";
import { Crowd } from "./crowd.ts";
import type { Poses } from "./poses.ts";

const CREASE = 0.6; // rad: edges sharper than this stay sharp
const LIFT = 2e-6; // of the depth of the picture, by which surfaces in one plane are told apart: half a pixel
const LIFTS = 11; // steps, after which they begin anew
const FINE = 30_000; // triangles beyond which a mesh is shaded smoothly as a whole
const CHOSEN = new Color(0x2f7fd6);
const ACTIVE = new Color(0xf2a900);
const MISFIT = new Color(0xd6303a);

/** One thing that is drawn: a piece of a body, or a part of a link. */
type Copy = Picked & {
    carrier: number;
    position: Vec3;
    rotation: Quat;
    color: Color;
    joint: boolean;
    link: number;
    part: number;
    lift: number;
};
type Batch = { mesh: InstancedMesh; number: number; copies: Copy[]; opacity: number; moves: boolean };

export type Hit = Picked & { body: number; near: number; depth: number; joint: boolean };

export class Pieces {
    readonly group = new Group();
    readonly batches: Batch[] = [];
    readonly beams: Beams;
    readonly crowd: Crowd | null;
    private readonly spheres: Sphere[];

    constructor(readonly scene: Scene) {
        const geometries = scene.meshes.map((_, k) => geometryOf(scene.vertices[k], scene.indices[k]));
        this.spheres = geometries.map((one) => {
            one.computeBoundingSphere();
            return one.boundingSphere!.clone();
        });
        const ground = scene.carriers.length - 1;
        const found = new Map<string, Copy[]>();
        let count = 0;
        const put = (mesh: number, opacity: number, copy: Omit<Copy, "lift">) => {
            const key = `${mesh} ${opacity}`;
            const before = found.get(key);
            const one = { ...copy, lift: LIFT * (count % LIFTS) };
            if (before) before.push(one);
            else found.set(key, [one]);
            count += 1;
        };
        const pieceJoint = new Set(scene.joints.flatMap((joint) => joint.pieces));
        scene.pieces.forEach((piece, k) => {
            const [r, g, b, opacity] = piece.color;
            put(piece.mesh, opacity, {
                table: piece.table,
                name: piece.element,
                carrier: piece.carrier,
                position: piece.position,
                rotation: piece.rotation,
                color: new Color().setRGB(r, g, b, "srgb"),
                joint: pieceJoint.has(k),
                link: -1,
                part: 0,
            });
        });
        scene.links.forEach((link, k) => {
            const [r, g, b, opacity] = link.color;
            for (let part = 0; part < Math.max(link.spans, 1); part += 1) {
                put(link.mesh, opacity, {
                    table: link.table,
                    name: link.name,
                    carrier: -1,
                    position: [0, 0, 0],
                    rotation: [1, 0, 0, 0],
                    color: new Color().setRGB(r, g, b, "srgb"),
                    joint: false,
                    link: k,
                    part,
                });
            }
        });
        for (const [key, copies] of found) {
            const [number, opacity] = key.split(" ").map(Number);
            const mesh = new InstancedMesh(lifted(geometries[number], copies), materialOf(opacity), copies.length);
            mesh.instanceMatrix.setUsage(DynamicDrawUsage);
            mesh.instanceColor = new InstancedBufferAttribute(new Float32Array(3 * copies.length), 3);
            mesh.frustumCulled = false;
            mesh.castShadow = opacity > 0.3;
            mesh.renderOrder = opacity < 1 ? 2 : 0;
            this.group.add(mesh);
            const moves = copies.some((copy) => copy.carrier !== ground);
            this.batches.push({ mesh, number, copies, opacity, moves });
        }
        this.beams = new Beams(scene);
        this.group.add(this.beams.group);
        this.crowd = scene.centres ? new Crowd(scene) : null;
        if (this.crowd) this.group.add(this.crowd.group);
        this.paint([], null, null);
    }

    dispose(): void {
        this.beams.dispose();
        this.crowd?.dispose();
        for (const { mesh } of this.batches) {
            mesh.geometry.dispose();
            mesh.dispose();
        }
    }

    /** Move all copies to the poses of the bodies. */
    place(poses: Poses): void {
        for (const batch of this.batches) {
            const numbers = batch.mesh.instanceMatrix.array as Float32Array;
            batch.copies.forEach((copy, k) => {
                if (copy.link >= 0) this.placeLink(numbers, 16 * k, copy, poses);
                else {
                    const turn = poses.rotation(copy.carrier);
                    write(numbers, 16 * k, product(turn, copy.rotation), poses.place(copy.carrier, copy.position), 1);
                }
            });
            batch.mesh.instanceMatrix.needsUpdate = true;
        }
        this.beams.place(poses);
        this.crowd?.place(poses);
    }

    private placeLink(numbers: Float32Array, at: number, copy: Copy, poses: Poses): void {
        const [start, end] = this.ends(copy, poses);
        const span = sub(end, start);
        write(numbers, at, fromZ(span), start, Math.max(norm(span), 1e-9));
    }

    private ends(copy: Copy, poses: Poses): [Vec3, Vec3] {
        const link = this.scene.links[copy.link];
        const spans = poses.frame?.spans;
        const at = 6 * (link.first + copy.part);
        if (link.spans > 0 && spans && spans.length >= at + 6) {
            return [
                [spans[at], spans[at + 1], spans[at + 2]],
                [spans[at + 3], spans[at + 4], spans[at + 5]],
            ];
        }
        return [poses.place(link.carriers[0], link.points[0]), poses.place(link.carriers[1], link.points[1])];
    }

    /**
     * Colour what is chosen, what is under the pointer, joints that moved in the last step, and those that miss.
     * tree: whose clusters are coloured, if they are.
     */
    paint(
        chosen: readonly Picked[],
        hovered: Picked | null,
        state: { active: readonly string[] | null; misfits: readonly string[] } | null,
        tree: Tree | null = null,
    ): void {
        const names = new Set(chosen.map((one) => `${one.table} ${one.name}`));
        const over = hovered ? `${hovered.table} ${hovered.name}` : "";
        const moved = new Set(state?.active ?? []);
        const missing = new Set(state?.misfits ?? []);
        const color = new Color();
        for (const { mesh, copies } of this.batches) {
            const numbers = mesh.instanceColor!.array as Float32Array;
            copies.forEach((copy, k) => {
                const key = `${copy.table} ${copy.name}`;
                color.copy(copy.color);
                if (tree && copy.carrier >= 0 && copy.carrier < tree.free.length && !copy.joint)
                    color.setRGB(...(tree.free[copy.carrier] ? FREE : colorOf(tree.clusters[copy.carrier])), "srgb");
                if (copy.joint && moved.has(copy.name)) color.copy(ACTIVE);
                if (copy.joint && missing.has(copy.name)) color.copy(MISFIT);
                if (names.has(key)) color.lerp(CHOSEN, 0.6);
                else if (key === over) color.offsetHSL(0, 0, 0.08);
                color.toArray(numbers, 3 * k);
            });
            mesh.instanceColor!.needsUpdate = true;
        }
        this.beams.paint(names, over);
        this.painted = tree?.changes ?? -1;
        if (!this.crowd) return;
        const { carriers } = this.scene;
        const numbers = new Set(
            chosen.filter((one) => one.table === "bodies").map((one) => carriers.indexOf(one.name)),
        );
        this.crowd.paint(tree, hovered?.table === "bodies" ? carriers.indexOf(hovered.name) : -1, numbers);
    }

    private painted = -1;

    /** Whether clusters of a tree have changed since they were painted. */
    isStale(tree: Tree): boolean {
        return tree.changes !== this.painted;
    }

    /** Make the moving parts transparent, or opaque again. */
    clear(clear: boolean): void {
        for (const { mesh, opacity, moves } of this.batches) {
            mesh.material = materialOf(clear && moves ? 0.5 * opacity : opacity);
        }
        this.beams.clear(clear);
    }

    /** What a ray hits, nearest first, and the depths of the surface and of the middle of the material there. */
    hits(ray: Ray, poses: Poses): Hit[] {
        const found: Hit[] = this.beams.hits(ray);
        for (const hit of this.crowd?.hits(ray) ?? [])
            found.push({ ...hit, table: "bodies", name: this.scene.carriers[hit.body], joint: false });
        for (const { copies, number } of this.batches) {
            const sphere = this.spheres[number];
            const center: Vec3 = [sphere.center.x, sphere.center.y, sphere.center.z];
            for (const copy of copies) {
                if (copy.link >= 0) {
                    const depth = this.passesLink(ray, copy, poses);
                    if (depth !== null)
                        found.push({ table: copy.table, name: copy.name, body: -1, near: depth, depth, joint: false });
                    continue;
                }
                const turn = product(poses.rotation(copy.carrier), copy.rotation);
                const at = poses.place(copy.carrier, copy.position);
                const gap = sub(add(at, rotate(turn, center)), ray.origin);
                const ahead = gap[0] * ray.way[0] + gap[1] * ray.way[1] + gap[2] * ray.way[2];
                if (norm(sub(gap, scale(ray.way, ahead))) > sphere.radius) continue;
                const back = conjugate(turn);
                const local = { origin: rotate(back, sub(ray.origin, at)), way: rotate(back, ray.way) };
                const depths = crossings(this.scene.vertices[number], this.scene.indices[number], local);
                if (depths === null) continue;
                found.push({
                    table: copy.table,
                    name: copy.name,
                    body: copy.carrier,
                    near: depths[0],
                    depth: (depths[0] + depths[1]) / 2,
                    joint: copy.joint,
                });
            }
        }
        return found.sort((a, b) => a.near - b.near);
    }

    /** How deep a ray passes by a link within its thickness; null where it does not. */
    private passesLink(ray: Ray, copy: Copy, poses: Poses): number | null {
        const [start, end] = this.ends(copy, poses);
        const span = sub(end, start);
        const length = norm(span);
        if (length < 1e-9) return null;
        const link = this.scene.links[copy.link];
        const v = this.scene.vertices[link.mesh];
        let reach = 0;
        for (let k = 0; k < v.length; k += 3) reach = Math.max(reach, Math.hypot(v[k], v[k + 1]));
        const back = conjugate(fromZ(span));
        const o = rotate(back, sub(ray.origin, start));
        const w = rotate(back, ray.way);
        const flat = w[0] * w[0] + w[1] * w[1];
        if (flat < 1e-12) return null;
        const depth = -(o[0] * w[0] + o[1] * w[1]) / flat;
        const x = o[0] + depth * w[0];
        const y = o[1] + depth * w[1];
        const z = o[2] + depth * w[2];
        return depth > 0 && Math.hypot(x, y) <= reach && z >= 0 && z <= length ? depth : null;
    }

    /** Lowest and highest coordinates on the page of all but surfaces, or of one body. */
    box(poses: Poses, only = -1): [Vec3, Vec3] | null {
        const low: Vec3 = [Infinity, Infinity, Infinity];
        const high: Vec3 = [-Infinity, -Infinity, -Infinity];
        const put = (place: Vec3, radius: number) => {
            for (let k = 0; k < 3; k += 1) {
                low[k] = Math.min(low[k], place[k] - radius);
                high[k] = Math.max(high[k], place[k] + radius);
            }
        };
        for (const piece of this.scene.pieces) {
            if (piece.role === "surface" || (only >= 0 && piece.carrier !== only)) continue;
            const v = this.scene.vertices[piece.mesh];
            const turn = product(poses.rotation(piece.carrier), piece.rotation);
            const at = poses.place(piece.carrier, piece.position);
            for (const corner of cornersOf(v)) put(add(at, rotate(turn, corner)), 0);
        }
        if (this.crowd) for (const corner of this.crowd.corners(only)) put(corner, 0);
        if (only < 0) {
            for (const place of this.beams.corners()) put(place, 0);
            for (const { copies } of this.batches) {
                for (const copy of copies) if (copy.link >= 0) for (const end of this.ends(copy, poses)) put(end, 0);
            }
        }
        return low[0] < Infinity ? [low, high] : null;
    }
}

const materials = new Map<number, MeshLambertMaterial>();

/** The material of an opacity. It is kept for all scenes, since its programs are costly to make. */
function materialOf(opacity: number): MeshLambertMaterial {
    let found = materials.get(opacity);
    if (!found) {
        const clear = opacity < 1;
        found = new MeshLambertMaterial({
            transparent: clear,
            opacity,
            side: clear ? DoubleSide : FrontSide,
            depthWrite: opacity >= 0.5,
            fog: false,
        });
        found.onBeforeCompile = lift;
        materials.set(opacity, found);
    }
    return found;
}

/** A geometry for copies of which each is drawn a little nearer or farther than it is. */
function lifted(of: BufferGeometry, copies: readonly Copy[]): BufferGeometry {
    const found = new BufferGeometry();
    for (const [name, attribute] of Object.entries(of.attributes)) found.setAttribute(name, attribute);
    found.setIndex(of.index);
    found.setAttribute(
        "lift",
        new InstancedBufferAttribute(
            Float32Array.from(copies, (copy) => copy.lift),
            1,
        ),
    );
    return found;
}

/** Otherwise parts of surfaces that lie in one plane, of rods say that cross, are seen at random. */
function lift(shader: { vertexShader: string }): void {
    shader.vertexShader = shader.vertexShader
        .replace("#include <common>", "#include <common>\nattribute float lift;")
        .replace("#include <project_vertex>", "#include <project_vertex>\ngl_Position.z -= lift * gl_Position.w;");
}

const corners = new WeakMap<Float32Array, Vec3[]>();

/** The corners of the box about vertices. */
function cornersOf(vertices: Float32Array): Vec3[] {
    const known = corners.get(vertices);
    if (known) return known;
    const low = [Infinity, Infinity, Infinity];
    const high = [-Infinity, -Infinity, -Infinity];
    vertices.forEach((x, k) => {
        low[k % 3] = Math.min(low[k % 3], x);
        high[k % 3] = Math.max(high[k % 3], x);
    });
    const found = Array.from({ length: 8 }, (_, k): Vec3 => [
        k & 1 ? high[0] : low[0],
        k & 2 ? high[1] : low[1],
        k & 4 ? high[2] : low[2],
    ]);
    corners.set(vertices, found);
    return found;
}

function geometryOf(vertices: Float32Array, indices: Uint32Array): BufferGeometry {
    const plain = new BufferGeometry();
    plain.setAttribute("position", new BufferAttribute(vertices, 3));
    plain.setIndex(new BufferAttribute(indices, 1));
    if (indices.length / 3 > FINE) {
        plain.computeVertexNormals();
        return plain;
    }
    return toCreasedNormals(plain, CREASE);
}

/** Write the matrix of a rotation, a place, and a stretch along z. */
function write(m: Float32Array, k: number, [w, x, y, z]: Quat, place: Vec3, stretch: number): void {
    m[k] = 1 - 2 * (y * y + z * z);
    m[k + 1] = 2 * (x * y + w * z);
    m[k + 2] = 2 * (x * z - w * y);
    m[k + 3] = 0;
    m[k + 4] = 2 * (x * y - w * z);
    m[k + 5] = 1 - 2 * (x * x + z * z);
    m[k + 6] = 2 * (y * z + w * x);
    m[k + 7] = 0;
    m[k + 8] = stretch * 2 * (x * z + w * y);
    m[k + 9] = stretch * 2 * (y * z - w * x);
    m[k + 10] = stretch * (1 - 2 * (x * x + y * y));
    m[k + 11] = 0;
    m[k + 12] = place[0];
    m[k + 13] = place[1];
    m[k + 14] = place[2];
    m[k + 15] = 1;
}
