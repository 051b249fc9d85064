// Draws traces as lines, and envelopes as faint copies of bodies along their way.

import {
    BufferAttribute,
    BufferGeometry,
    Group,
    InstancedMesh,
    Line,
    LineBasicMaterial,
    Matrix4,
    MeshLambertMaterial,
    Quaternion,
    Vector3,
} from "three";
import { add, distance, product, rotate } from "../maths.ts";
import { paths, watchers } from "../traces.ts";
import type { Path, Trace } from "../traces.ts";
import type { Stage } from "./stage.ts";

const PICTURES = 48; // of a body in its envelope
const FAINT = 0.07;

type Drawn = { group: Group; line: Line | null; ghosts: InstancedMesh[]; edition: number };

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
            one.line?.geometry.dispose();
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
        const one: Drawn = { group, line: null, ghosts: [], edition: this.stage.scene?.edition ?? -1 };
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
            const geometry = new BufferGeometry();
            one.line = new Line(geometry, new LineBasicMaterial({ color: trace.color, fog: false }));
            one.line.frustumCulled = false;
            group.add(one.line);
        }
        this.stage.three.add(group);
        this.drawn.set(trace, one);
        return one;
    }

    private line({ line }: Drawn, path: Path): void {
        const { base } = this.stage.poses;
        const count = path.points.length;
        let attribute = line!.geometry.getAttribute("position") as BufferAttribute | undefined;
        if (!attribute || attribute.count < count) {
            line!.geometry.dispose();
            line!.geometry = new BufferGeometry();
            attribute = new BufferAttribute(new Float32Array(3 * Math.max(256, 2 * count)), 3);
            line!.geometry.setAttribute("position", attribute);
        }
        const numbers = attribute.array as Float32Array;
        path.points.forEach((point, k) => {
            for (let axis = 0; axis < 3; axis += 1) numbers[3 * k + axis] = point[axis] - base[axis];
        });
        line!.geometry.setDrawRange(0, count);
        attribute.needsUpdate = true;
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
