// Marks over the picture: points that can be clicked, those that were, open gaps, centres of rotation, a drawn preview.

import { BufferAttribute, BufferGeometry, Color, LineBasicMaterial, LineSegments, SphereGeometry } from "three";
import { add, cross, distance, dot, middle, norm, scale } from "../maths.ts";
import type { Vec3 } from "../protocol.ts";
import { look } from "../look.ts";
import { lengthText } from "../words.ts";
import { Copies } from "./copies.ts";
import type { Labels } from "./labels.ts";
import type { Stage } from "./stage.ts";

const POINT = new Color(0x2f6fb3);
const PICKED = new Color(0xf28f00);
const HANDLE = new Color(0x1f9d55);
const CENTRE = new Color(0xb0439a);
const STANDS_OPEN = 2; // in Statuses
const OPEN = 1e-6; // m: a smaller distance is not a gap

/** Lines that are written anew for each picture, over everything else. */
export class Lines {
    readonly object: LineSegments;
    private numbers: number[] = [];

    constructor(color: number, onTop = true) {
        const material = new LineBasicMaterial({ color, depthTest: !onTop, transparent: onTop, fog: false });
        this.object = new LineSegments(new BufferGeometry(), material);
        this.object.frustumCulled = false;
        this.object.renderOrder = onTop ? 9 : 0;
    }

    begin(): void {
        this.numbers = [];
    }

    put(a: Vec3, b: Vec3): void {
        this.numbers.push(...a, ...b);
    }

    end(): void {
        this.object.visible = this.numbers.length > 0;
        if (!this.numbers.length) return;
        const had = this.object.geometry.getAttribute("position") as BufferAttribute | undefined;
        if (had && had.array.length >= this.numbers.length) {
            (had.array as Float32Array).set(this.numbers);
            had.needsUpdate = true;
        } else this.object.geometry.setAttribute("position", new BufferAttribute(new Float32Array(this.numbers), 3));
        this.object.geometry.setDrawRange(0, this.numbers.length / 3);
    }
}

export type Mark = { place: Vec3; kind: "picked" | "hover" | "handle" };

export class Marks {
    /** What tools want to be marked, and lines that they draw; on the page. */
    marks: Mark[] = [];
    lines: [Vec3, Vec3][] = [];
    /** Whether the points that can be clicked are shown. */
    points = false;
    private readonly balls: Copies;
    private readonly gaps = new Lines(0xf28f00);
    private readonly drawn = new Lines(0x2f6fb3);

    constructor(
        stage: Stage,
        private readonly labels: Labels,
    ) {
        this.balls = new Copies(new SphereGeometry(1, 12, 8), true);
        stage.three.add(this.balls.group, this.gaps.object, this.drawn.object);
    }

    draw(stage: Stage): void {
        const { scene, poses, camera } = stage;
        this.balls.begin();
        this.gaps.begin();
        this.drawn.begin();
        const ball = (place: Vec3, pixels: number, color: Color) => {
            const r = pixels * camera.pixelAt(place);
            this.balls.put(place, [1, 0, 0, 0], [r, r, r], color);
        };
        if (scene && poses.frame) {
            if (this.points || look.peek().points)
                for (const { body, position } of scene.points) ball(poses.place(body, position), 3.2, POINT);
            for (const [a, b] of scene.gaps) {
                const places = [a, b].map((k) => poses.place(scene.ends[k].body, scene.ends[k].position));
                const gap = distance(places[0], places[1]);
                if (gap <= OPEN) continue;
                this.gaps.put(places[0], places[1]);
                if (poses.frame.moving || poses.frame.status !== STANDS_OPEN) continue;
                const place = middle(places[0], places[1]);
                this.labels.put({ place, text: `${scene.ends[a].joint}: ${lengthText(gap)} apart`, kind: "", dy: -26 });
            }
            if (look.peek().centres) this.centres(stage, ball);
        }
        for (const { place, kind } of this.marks)
            ball(place, kind === "handle" ? 4.5 : 5.5, kind === "handle" ? HANDLE : kind === "hover" ? POINT : PICKED);
        for (const [a, b] of this.lines) this.drawn.put(a, b);
        this.balls.end();
        this.gaps.end();
        this.drawn.end();
    }

    /** Instant centres: the points of bodies that turn in the plane of the picture, which stand still. */
    private centres(stage: Stage, ball: (place: Vec3, pixels: number, color: Color) => void): void {
        const { poses, scene } = stage;
        const found: { place: Vec3; names: string[] }[] = [];
        for (let body = 0; body < poses.count; body += 1) {
            const twist = poses.twist(body);
            if (!twist) continue;
            const [v, w] = twist;
            const rate = norm(w);
            if (rate < 1e-9 || Math.abs(dot(v, w)) > 1e-6 * rate * Math.max(norm(v), 1e-9)) continue;
            const place = add(poses.position(body), scale(cross(w, v), 1 / (rate * rate)));
            if (distance(place, poses.position(body)) > 100 * stage.size) continue;
            const same = found.find((one) => distance(one.place, place) < 1e-3 * stage.size);
            if (same) same.names.push(scene!.carriers[body]);
            else found.push({ place, names: [scene!.carriers[body]] });
        }
        for (const { place, names } of found) {
            ball(place, 4, CENTRE);
            const text = names.length > 3 ? `${names.length} bodies` : names.join(", ");
            this.labels.put({ place, text: `centre of ${text}`, kind: "", dy: 14 });
        }
    }
}
