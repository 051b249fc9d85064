// Draws traces as lines, and envelopes as faint copies of bodies along their way.

import {
    Group,
    InstancedMesh,
    InterleavedBufferAttribute,
    Matrix4,
    MeshLambertMaterial,
    Quaternion,
    Vector3,
} from "three";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { LineSegments2 } from "three/examples/jsm/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/examples/jsm/lines/LineSegmentsGeometry.js";
import { add, distance, product, rotate } from "../maths.ts";
import { paths, watchers } from "../traces.ts";
import type { Path, Trace } from "../traces.ts";
import type { Stage } from "./stage.ts";

const PICTURES = 48; // of a body in its envelope
const FAINT = 0.07;
const WIDTH = 2.5; // px of a trace
const BEHIND = 0.4; // how clearly it is seen through bodies

type Drawn = { group: Group; lines: LineSegments2[]; ghosts: InstancedMesh[]; edition: number };

export class Paths {
    private readonly drawn = new Map<Trace, Drawn>();
    private stale = true;

    constructor(private readonly stage: Stage) {
        watchers.push(() => {
            this.stale = true;
            stage.request();
        });
    }

    draw(): void {
        if (!this.stale) return;
        this.stale = false;
        for (const [trace, one] of this.drawn) {
            if (paths.has(trace) && one.edition === this.stage.scene?.edition) continue;
            this.stage.three.remove(one.group);
            for (const line of one.lines) line.geometry.dispose();
            for (const ghost of one.ghosts) ghost.dispose();
            this.drawn.delete(trace);
        }
        for (const [trace, path] of paths) {
            const one = this.drawn.get(trace) ?? this.make(trace);
            if (trace.envelope) this.envelope(one, path);
            else this.line(one, path);
        }
    }

    private make(trace: Trace): Drawn {
        const group = new Group();
        const one: Drawn = { group, lines: [], ghosts: [], edition: this.stage.scene?.edition ?? -1 };
        const { scene } = this.stage;
        if (trace.envelope && scene && this.stage.pieces) {
            const carrier = scene.carriers.indexOf(trace.body);
            for (const { mesh, copies } of this.stage.pieces.batches) {
                for (const copy of copies) {
                    if (copy.carrier !== carrier || copy.joint) continue;
                    const material = new MeshLambertMaterial({
                        color: trace.color,
                        transparent: true,
                        opacity: FAINT,
                        depthWrite: false,
                        fog: false,
                    });
                    const ghost = new InstancedMesh(mesh.geometry, material, PICTURES);
                    ghost.frustumCulled = false;
                    ghost.renderOrder = 3;
                    ghost.userData = { position: copy.position, rotation: copy.rotation };
                    ghost.count = 0;
                    one.ghosts.push(ghost);
                    group.add(ghost);
                }
            }
        } else {
            for (const behind of [true, false]) {
                const material = new LineMaterial({
                    color: trace.color,
                    linewidth: WIDTH,
                    fog: false,
                    depthTest: !behind,
                    transparent: behind,
                    opacity: behind ? BEHIND : 1,
                });
                const line = new LineSegments2(new LineSegmentsGeometry(), material);
                line.frustumCulled = false;
                line.renderOrder = behind ? 8 : 0;
                one.lines.push(line);
                group.add(line);
            }
        }
        this.stage.three.add(group);
        this.drawn.set(trace, one);
        return one;
    }

    private line({ lines }: Drawn, path: Path): void {
        const { base } = this.stage.poses;
        const count = Math.max(path.points.length - 1, 0);
        const [first] = lines;
        let buffer = (first.geometry.attributes.instanceStart as InterleavedBufferAttribute | undefined)?.data;
        if (!buffer || buffer.count < count) {
            first.geometry.dispose();
            const geometry = new LineSegmentsGeometry();
            geometry.setPositions(new Float32Array(6 * Math.max(256, 2 * count)));
            for (const line of lines) line.geometry = geometry;
            buffer = (geometry.attributes.instanceStart as InterleavedBufferAttribute).data;
        }
        const numbers = buffer.array as Float32Array;
        path.points.forEach((point, k) => {
            for (let axis = 0; axis < 3; axis += 1) {
                const x = point[axis] - base[axis];
                if (k < count) numbers[6 * k + axis] = x;
                if (k > 0) numbers[6 * k - 3 + axis] = x;
            }
        });
        first.geometry.instanceCount = count;
        buffer.needsUpdate = true;
    }

    /** Copies at places that lie as far apart as the whole way allows. */
    private envelope({ ghosts }: Drawn, path: Path): void {
        const chosen = spread(path);
        const { base } = this.stage.poses;
        const matrix = new Matrix4();
        for (const ghost of ghosts) {
            const { position, rotation } = ghost.userData;
            chosen.forEach((k, number) => {
                const turn = path.rotations[k];
                const place = add(path.points[k], rotate(turn, position));
                const [w, x, y, z] = product(turn, rotation);
                matrix.compose(
                    new Vector3(place[0] - base[0], place[1] - base[1], place[2] - base[2]),
                    new Quaternion(x, y, z, w),
                    new Vector3(1, 1, 1),
                );
                ghost.setMatrixAt(number, matrix);
            });
            ghost.count = chosen.length;
            ghost.instanceMatrix.needsUpdate = true;
        }
    }
}

function spread(path: Path): number[] {
    const way = [0];
    for (let k = 1; k < path.points.length; k += 1) {
        const turn = 1 - Math.abs(path.rotations[k].reduce((sum, x, n) => sum + x * path.rotations[k - 1][n], 0));
        way.push(way[k - 1] + distance(path.points[k], path.points[k - 1]) + Math.sqrt(Math.max(turn, 0)));
    }
    const all = way.at(-1) ?? 0;
    const found: number[] = [];
    for (let k = 0; k < way.length; k += 1) {
        if (way[k] >= (found.length * all) / (PICTURES - 1) && found.length < PICTURES) found.push(k);
    }
    return found;
}
