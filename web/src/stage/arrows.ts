// Arrows: what joints and forces exert, contacts, velocities and accelerations, and hands that pull.

import { Color, ConeGeometry, CylinderGeometry, SphereGeometry } from "three";
import { add, along, cross, distance, fromZ, norm, scale, sub, unit } from "../maths.ts";
import { ARROW, HAND, TOUCH, TWIST } from "../protocol.ts";
import type { Vec3 } from "../protocol.ts";
import { look } from "../look.ts";
import { withPrefix } from "../words.ts";
import { Copies } from "./copies.ts";
import type { Labels } from "./labels.ts";
import type { Stage } from "./stage.ts";

const LONGEST = 0.3; // of the mechanism's size: the length of the arrow of the largest vector so far
const FORGET = 0.99; // of the largest vector, in each picture
const LEAST = 0.02; // of the largest: shorter arrows are not drawn
const NOISE = 1e-9; // N, N m, m/s: smaller vectors are what rounding leaves
const NUMBERED = 24; // arrows that have their number beside them: those of the largest vectors
const COLORS = {
    "reaction force": 0xd65c40,
    "reaction moment": 0x5876cc,
    force: 0xb0439a,
    moment: 0x7a55c4,
    contact: 0xc2204a,
    velocity: 0x2c9a5e,
    acceleration: 0xb8860b,
    hand: 0xf2a900,
    sticks: 0x26303a,
    slips: 0xe8b51d,
};
const KINDS = ["reaction force", "reaction moment", "force", "moment", "contact"] as const;
type Kind = keyof typeof COLORS;

const colors = Object.fromEntries(Object.entries(COLORS).map(([name, hex]) => [name, new Color(hex)])) as Record<
    Kind,
    Color
>;
const units: Partial<Record<Kind, string>> = {
    "reaction force": "N",
    "reaction moment": "N m",
    force: "N",
    moment: "N m",
    contact: "N",
    velocity: "m/s",
    acceleration: "m/s²",
};

type Arrow = { tail: Vec3; vector: Vec3; size: number; kind: Kind };

export class Arrows {
    private readonly shafts: Copies;
    private readonly heads: Copies;
    private readonly balls: Copies;
    private readonly largest = new Map<string, number>();
    /** The largest contact force, N, and how many points touch. */
    readonly contact = { points: 0, largest: 0 };

    constructor(
        stage: Stage,
        private readonly labels: Labels,
    ) {
        this.shafts = new Copies(new CylinderGeometry(1, 1, 1, 10, 1).rotateX(Math.PI / 2).translate(0, 0, 0.5));
        this.heads = new Copies(new ConeGeometry(1, 1, 14).rotateX(Math.PI / 2).translate(0, 0, 0.5));
        this.balls = new Copies(new SphereGeometry(1, 12, 8));
        stage.three.add(this.shafts.group, this.heads.group, this.balls.group);
    }

    /** Forget the scale of forces of the former mechanism. */
    renew(): void {
        this.largest.clear();
    }

    draw(stage: Stage): void {
        this.shafts.begin();
        this.heads.begin();
        this.balls.begin();
        const found = this.collect(stage);
        this.scaled(stage, found);
        this.hands(stage);
        this.shafts.end();
        this.heads.end();
        this.balls.end();
    }

    private collect(stage: Stage): Arrow[] {
        const { frame } = stage.poses;
        const wants = look.peek();
        const found: Arrow[] = [];
        this.contact.points = this.contact.largest = 0;
        if (!frame) return found;
        const put = (tail: Vec3, vector: Vec3, kind: Kind) => {
            const size = norm(vector);
            if (size > NOISE && Number.isFinite(size)) found.push({ tail, vector, size, kind });
        };
        for (let at = 0; at < frame.arrows.length; at += ARROW) {
            const [x, y, z, u, v, w, kind] = frame.arrows.subarray(at, at + ARROW);
            const name = KINDS[kind];
            const wanted = {
                "reaction force": wants.reactions,
                "reaction moment": wants.reactions && wants.moments,
                force: wants.forces,
                moment: wants.forces && wants.moments,
                contact: wants.contacts,
            }[name];
            if (!wanted) continue;
            put([x, y, z], [u, v, w], name);
        }
        for (let at = 0; wants.contacts && at < frame.touching.length; at += TOUCH) {
            const [x, y, z, size, slips] = frame.touching.subarray(at, at + TOUCH);
            this.contact.points += 1;
            this.contact.largest = Math.max(this.contact.largest, size);
            const radius = 0.011 * Math.sqrt(0.5 * stage.size * stage.size);
            this.balls.put([x, y, z], [1, 0, 0, 0], [radius, radius, radius], slips ? colors.slips : colors.sticks);
        }
        for (const [wanted, kind, accelerations] of [
            [wants.velocities, "velocity", false],
            [wants.accelerations, "acceleration", true],
        ] as const) {
            if (wanted && frame.twists.length === TWIST * frame.bodies) this.motions(stage, put, kind, accelerations);
        }
        return found;
    }

    /** Velocities or accelerations of the points of bodies that matter: those where others hold on. */
    private motions(
        stage: Stage,
        put: (tail: Vec3, vector: Vec3, kind: Kind) => void,
        kind: Kind,
        accelerations: boolean,
    ): void {
        const { poses, scene } = stage;
        const seen: Vec3[] = [];
        for (const { body, position } of scene!.points) {
            if (body >= poses.count) continue;
            const place = poses.place(body, position);
            if (seen.some((one) => distance(one, place) < 1e-6 * stage.size)) continue;
            const twist = poses.twist(body);
            const change = poses.twist(body, true);
            if (!twist || (accelerations && !change)) continue;
            seen.push(place);
            const arm = sub(place, poses.position(body));
            const [v, w] = twist;
            if (!accelerations) put(place, add(v, cross(w, arm)), kind);
            else put(place, add(add(change![0], cross(change![1], arm)), cross(w, cross(w, arm))), kind);
        }
    }

    private scaled(stage: Stage, found: Arrow[]): void {
        const most = new Map<string, number>();
        for (const { kind, size } of found) most.set(kind, Math.max(most.get(kind) ?? 0, size));
        for (const [kind, size] of most) this.largest.set(kind, Math.max(size, FORGET * (this.largest.get(kind) ?? 0)));
        const drawn = found
            .filter(({ kind, size }) => size > LEAST * this.largest.get(kind)!)
            .sort((a, b) => b.size - a.size);
        drawn.forEach(({ tail, vector, size, kind }, k) => {
            const length = (LONGEST * stage.size * size) / this.largest.get(kind)!;
            const tip = along(tail, unit(vector), length);
            this.arrow(stage, tail, tip, colors[kind]);
            const label = units[kind];
            if (k < NUMBERED && label) {
                const sort = kind.includes("moment")
                    ? "moment"
                    : kind === "velocity" || kind === "acceleration"
                      ? kind
                      : "force";
                this.labels.put({ place: tip, text: withPrefix(size, label), kind: sort, dy: -9 });
            }
        });
    }

    private hands(stage: Stage): void {
        const { frame } = stage.poses;
        if (!frame) return;
        for (let at = 0; at < frame.hands.length; at += HAND) {
            const [, x, y, z, u, v, w] = frame.hands.subarray(at, at + HAND);
            const point: Vec3 = [x, y, z];
            this.arrow(stage, point, [u, v, w], colors.hand);
            const radius = 5 * stage.camera.pixelAt(point);
            this.balls.put(point, [1, 0, 0, 0], [radius, radius, radius], colors.hand);
        }
    }

    /** An arrow between two points, as thick as it looks well in the picture. */
    private arrow(stage: Stage, tail: Vec3, tip: Vec3, color: Color): void {
        const span = sub(tip, tail);
        const length = norm(span);
        if (length < 1e-9 * stage.size) return;
        const turn = fromZ(span);
        const width = Math.min(1.8 * stage.camera.pixelAt(tail), 0.1 * length);
        const head = Math.min(6 * width, 0.6 * length);
        this.shafts.put(tail, turn, [width, width, length - 0.9 * head], color);
        this.heads.put(add(tail, scale(span, 1 - head / length)), turn, [3 * width, 3 * width, head], color);
    }
}
