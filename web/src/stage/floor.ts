// The floor: a grid that fades with distance and takes shadows; and the grid of a plane in which one draws.

import {
    BufferAttribute,
    BufferGeometry,
    Color,
    Group,
    LineBasicMaterial,
    LineSegments,
    Mesh,
    PlaneGeometry,
    Quaternion,
    ShadowMaterial,
} from "three";
import { fromZ } from "../maths.ts";
import type { Vec3 } from "../protocol.ts";

const CELLS = 100;
const PIECE = 5; // cells
const THIN: Record<string, number> = { light: 0xd5dbe2, dark: 0x343a42 };
const THICK: Record<string, number> = { light: 0xbcc4cd, dark: 0x4a525c };

/** A square grid in its own xy plane, with a stronger line at each fifth cell. */
export class Grid {
    readonly group = new Group();
    private readonly thin = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ fog: true }));
    private readonly thick = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ fog: true }));
    private readonly shade = new Mesh(new PlaneGeometry(1, 1), new ShadowMaterial({ opacity: 0.22, fog: false }));
    private cell = 0;

    constructor(shadow: boolean) {
        this.group.add(this.thin, this.thick);
        this.thin.renderOrder = this.thick.renderOrder = -1;
        if (shadow) {
            this.shade.receiveShadow = true;
            this.group.add(this.shade);
        }
    }

    set(cell: number): void {
        if (cell === this.cell) return;
        this.cell = cell;
        const half = (CELLS / 2) * cell;
        const lines: Record<"thin" | "thick", number[]> = { thin: [], thick: [] };
        for (let k = -CELLS / 2; k <= CELLS / 2; k += 1) {
            const at = k * cell;
            const into = k % 5 === 0 ? lines.thick : lines.thin;
            // in pieces, since a line that runs behind the eye is not drawn everywhere
            for (let from = -half; from < half - 0.5 * cell; from += PIECE * cell) {
                const to = from + PIECE * cell;
                into.push(at, from, 0, at, to, 0, from, at, 0, to, at, 0);
            }
        }
        this.thin.geometry.setAttribute("position", new BufferAttribute(new Float32Array(lines.thin), 3));
        this.thick.geometry.setAttribute("position", new BufferAttribute(new Float32Array(lines.thick), 3));
        this.shade.scale.set(CELLS * cell, CELLS * cell, 1);
    }

    paint(dark: boolean): void {
        const theme = dark ? "dark" : "light";
        (this.thin.material as LineBasicMaterial).color = new Color(THIN[theme]);
        (this.thick.material as LineBasicMaterial).color = new Color(THICK[theme]);
        (this.shade.material as ShadowMaterial).opacity = dark ? 0.4 : 0.2;
    }

    /** Lines that run together where one looks along the plane are left out. steep: sine of the angle of the look. */
    thinOut(steep: number): void {
        this.thin.visible = steep > 0.1;
        this.thick.visible = steep > 0.02;
    }

    shadows(on: boolean): void {
        this.shade.visible = on;
    }

    put(place: Vec3, normal: Vec3): void {
        const [w, x, y, z] = fromZ(normal);
        this.group.position.set(...place);
        this.group.quaternion.copy(new Quaternion(x, y, z, w));
    }
}
