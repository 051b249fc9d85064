// A pool of copies of one mesh, written anew for each picture; it grows when more are needed.

import {
    BufferGeometry,
    Color,
    DynamicDrawUsage,
    Group,
    InstancedBufferAttribute,
    InstancedMesh,
    Matrix4,
    MeshBasicMaterial,
    MeshLambertMaterial,
    Quaternion,
    Vector3,
} from "three";
import type { Quat, Vec3 } from "../protocol.ts";

const matrix = new Matrix4();
const at = new Vector3();
const turn = new Quaternion();
const size = new Vector3();

export class Copies {
    readonly group = new Group();
    private mesh: InstancedMesh;
    private count = 0;

    /** onTop: drawn over everything, in plain colours. */
    constructor(
        private readonly geometry: BufferGeometry,
        private readonly onTop = false,
    ) {
        this.mesh = this.make(16);
    }

    private make(room: number): InstancedMesh {
        const material = this.onTop
            ? new MeshBasicMaterial({ depthTest: false, depthWrite: false, transparent: true, fog: false })
            : new MeshLambertMaterial({ fog: false });
        const mesh = new InstancedMesh(this.geometry, material, room);
        mesh.instanceMatrix.setUsage(DynamicDrawUsage);
        mesh.instanceColor = new InstancedBufferAttribute(new Float32Array(3 * room), 3);
        mesh.frustumCulled = false;
        mesh.renderOrder = this.onTop ? 10 : 1;
        mesh.count = 0;
        this.group.add(mesh);
        return mesh;
    }

    begin(): void {
        this.count = 0;
    }

    put(place: Vec3, rotation: Quat, scale: Vec3, color: Color): void {
        const room = this.mesh.instanceMatrix.count;
        if (this.count === room) {
            const old = this.mesh;
            this.mesh = this.make(2 * room);
            (this.mesh.instanceMatrix.array as Float32Array).set(old.instanceMatrix.array);
            (this.mesh.instanceColor!.array as Float32Array).set(old.instanceColor!.array);
            this.group.remove(old);
            (old.material as MeshBasicMaterial).dispose();
            old.dispose();
        }
        const [w, x, y, z] = rotation;
        matrix.compose(at.set(...place), turn.set(x, y, z, w), size.set(...scale));
        this.mesh.setMatrixAt(this.count, matrix);
        this.mesh.setColorAt(this.count, color);
        this.count += 1;
    }

    end(): void {
        this.mesh.count = this.count;
        this.mesh.visible = this.count > 0;
        this.mesh.instanceMatrix.needsUpdate = true;
        if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
    }
}
