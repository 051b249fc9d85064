// The mouse over the picture: it turns the camera, chooses, pulls bodies, drags their points, and works the tool in hand.

import { look } from "./look.ts";
import { conjugate, distance, onRay, rotate, sub } from "./maths.ts";
import { dragged, dragNormal, elementAt, jointAt, markerAt, planeAt } from "./picking.ts";
import type { Target } from "./picking.ts";
import type { Vec3 } from "./protocol.ts";
import { ask, move, order } from "./socket.ts";
import { choose, chosen, hovered, live, now, pulls, selection, tell } from "./state.ts";
import { NOTHING, tool } from "./tools/tool.ts";
import type { At, Preview } from "./tools/tool.ts";
import type { Stage } from "./stage/stage.ts";
import type { Marks } from "./stage/marks.ts";
import { lengthText, nounOf } from "./words.ts";

const SLOP = 4; // px: less is a click
const EVERY = 8; // ms between moves that are sent
const HOVER = 50; // ms between looks at what is under the pointer

type Drag =
    | { kind: "turn" | "shift" }
    | { kind: "press"; body: string; index: number; held: Vec3; handle: Target | null }
    | { kind: "pull"; body: string; held: Vec3 }
    | { kind: "shape"; target: Target; to: Vec3; held: Vec3; normal: Vec3; local: (place: Vec3) => Vec3 };

export class Pointing {
    private drag: Drag | null = null;
    private pressed: { x: number; y: number; moved: boolean } | null = null;
    private x = 0;
    private y = 0;
    private hovering: ReturnType<typeof setTimeout> | undefined;
    private sending: ReturnType<typeof setTimeout> | undefined;
    private sentAt = 0;
    private shaping = false;
    private inside = false;
    private readonly fingers = new Map<number, [number, number]>();

    constructor(
        private readonly stage: Stage,
        private readonly marks: Marks,
        private readonly tip: (text: string, x: number, y: number) => void,
    ) {
        const { box } = stage;
        box.addEventListener("pointerdown", this.down);
        box.addEventListener("pointermove", this.moved);
        box.addEventListener("pointerup", this.up);
        box.addEventListener("pointercancel", this.up);
        box.addEventListener("pointerleave", () => this.leave());
        box.addEventListener("wheel", this.wheel, { passive: false });
        box.addEventListener("contextmenu", (event) => event.preventDefault());
        box.addEventListener("dblclick", this.twice);
        window.addEventListener("blur", () => this.finish());
    }

    private place(event: MouseEvent): void {
        this.inside = true;
        const box = this.stage.box.getBoundingClientRect();
        [this.x, this.y] = [event.clientX - box.left, event.clientY - box.top];
    }

    private at(event: MouseEvent | null = null): At {
        return { stage: this.stage, x: this.x, y: this.y, shift: event?.shiftKey ?? false };
    }

    private onOverlay(event: Event): boolean {
        return event.target !== this.stage.canvas;
    }

    private readonly down = (event: PointerEvent): void => {
        if (this.onOverlay(event)) return;
        this.place(event);
        this.stage.canvas.focus({ preventScroll: true });
        this.stage.canvas.setPointerCapture(event.pointerId);
        this.fingers.set(event.pointerId, [event.clientX, event.clientY]);
        if (this.fingers.size > 1) {
            this.finish();
            this.drag = { kind: "shift" };
            return;
        }
        this.pressed = { x: this.x, y: this.y, moved: false };
        if (event.button === 1 || event.button === 2 || (event.button === 0 && event.shiftKey && !tool.value))
            this.drag = { kind: "shift" };
        else if (event.button === 0) this.drag = this.press(event.altKey);
    };

    /** What a drag from here would do. */
    private press(turns: boolean): Drag {
        if (tool.value || turns || !pulls.value) return { kind: "turn" };
        const one = chosen.value;
        const only = one?.table === "bodies" ? (this.stage.scene?.carriers.indexOf(one.name) ?? -1) : -1;
        const handle =
            only >= 0 && live.value && now.frame?.status !== 1 ? markerAt(this.stage, this.x, this.y, -1, only) : null;
        if (handle) return { kind: "press", body: handle.name, index: handle.body, held: handle.place, handle };
        const hits = this.stage.pieces?.hits(this.stage.camera.ray(this.x, this.y), this.stage.poses) ?? [];
        const hit = hits.find(({ body }) => body >= 0);
        if (!hit || hit.body >= this.stage.poses.count) return { kind: "turn" };
        const held = onRay(this.stage.camera.ray(this.x, this.y), hit.near);
        return { kind: "press", body: this.stage.scene!.carriers[hit.body], index: hit.body, held, handle: null };
    }

    private readonly moved = (event: PointerEvent): void => {
        if (this.fingers.has(event.pointerId) && this.fingers.size > 1) {
            this.pinch(event);
            return;
        }
        const [x, y] = [this.x, this.y];
        this.place(event);
        if (!this.pressed || !this.drag) {
            this.hover(event);
            return;
        }
        if (!this.pressed.moved && Math.hypot(this.x - this.pressed.x, this.y - this.pressed.y) < SLOP) return;
        if (!this.pressed.moved) {
            this.pressed.moved = true;
            this.tip("", 0, 0);
            this.startDrag();
        }
        const { drag } = this;
        if (drag.kind === "turn") this.stage.camera.turn(0.006 * (this.x - x), 0.006 * (this.y - y));
        else if (drag.kind === "shift") this.stage.camera.shift(this.x - x, this.y - y);
        else if (drag.kind === "pull" || drag.kind === "shape") this.sendSoon();
    };

    /** Two fingers shift and zoom. */
    private pinch(event: PointerEvent): void {
        const before = [...this.fingers.values()];
        this.fingers.set(event.pointerId, [event.clientX, event.clientY]);
        const after = [...this.fingers.values()];
        const mid = (of: [number, number][]): [number, number] => [
            (of[0][0] + of[1][0]) / 2,
            (of[0][1] + of[1][1]) / 2,
        ];
        const wide = (of: [number, number][]) => Math.max(Math.hypot(of[0][0] - of[1][0], of[0][1] - of[1][1]), 1);
        const [a, b] = [mid(before), mid(after)];
        this.stage.camera.shift(b[0] - a[0], b[1] - a[1]);
        const box = this.stage.box.getBoundingClientRect();
        this.stage.camera.zoom(wide(before) / wide(after), this.stage.camera.ray(b[0] - box.left, b[1] - box.top));
    }

    private startDrag(): void {
        const { drag, stage } = this;
        if (drag?.kind !== "press") return;
        if (drag.handle) {
            const normal = dragNormal(stage);
            const [position, back] = [stage.poses.position(drag.index), conjugate(stage.poses.rotation(drag.index))];
            const local = (place: Vec3) => rotate(back, sub(place, position)); // as the body lay when it was taken hold of
            this.drag = { kind: "shape", target: drag.handle, to: drag.handle.point, held: drag.held, normal, local };
            return;
        }
        this.drag = { kind: "pull", body: drag.body, held: drag.held };
        const target = dragged(stage, drag.held, this.x, this.y) ?? drag.held;
        void order("grab", {
            body: drag.body,
            point: stage.poses.local(drag.index, drag.held),
            target: stage.poses.toWorld(target),
        });
        this.sentAt = performance.now();
    }

    private sendSoon(): void {
        const wait = this.sentAt + EVERY - performance.now();
        clearTimeout(this.sending);
        if (wait > 0) this.sending = setTimeout(() => this.send(), wait);
        else this.send();
    }

    private send(): void {
        const { drag, stage } = this;
        if (drag?.kind === "pull") {
            const target = dragged(stage, drag.held, this.x, this.y);
            this.sentAt = performance.now();
            if (target) move(drag.body, stage.poses.toWorld(target));
        } else if (drag?.kind === "shape") void this.shape(drag, true);
    }

    /** Move a point of a body to the pointer; the next place is sent once the last one is done. */
    private async shape(drag: Extract<Drag, { kind: "shape" }>, part: boolean): Promise<void> {
        if (this.shaping && part) return;
        const { stage } = this;
        const plane = { point: drag.held, normal: drag.normal };
        const place = planeAt(stage, plane, this.x, this.y, look.peek().snap && stage.scene?.plane === true);
        if (!place) return;
        const { body, name } = drag.target;
        const to = drag.local(place);
        if (part && distance(to, drag.to) < 1e-9) return;
        this.shaping = true;
        const answer = await ask("reshape", { body: name, point: drag.target.point, to, part });
        this.shaping = false;
        drag.to = to;
        if (!answer.ok && !part) tell(answer.text || answer.error?.message || "", true);
        const others = stage.scene ? stage.scene.points.filter((one) => one.body === body) : [];
        const far = others.map(({ position }) => distance(position, drag.to)).reduce((a, b) => Math.max(a, b), 0);
        this.tip(far > 0 ? lengthText(far) : "", this.x, this.y);
        if (part && this.drag === drag) this.sendSoon();
    }

    private readonly up = (event: PointerEvent): void => {
        this.fingers.delete(event.pointerId);
        if (this.onOverlay(event) && !this.pressed) return;
        this.place(event);
        const { pressed } = this;
        if (pressed && !pressed.moved && this.drag && event.button === 0) this.click(event);
        this.finish();
        this.hover(event);
    };

    /** End what the mouse drags. */
    private finish(): void {
        const { drag, pressed } = this;
        this.drag = this.pressed = null;
        clearTimeout(this.sending);
        if (!pressed?.moved) return;
        if (drag?.kind === "pull") void order("release", { body: drag.body });
        else if (drag?.kind === "shape") void this.shape(drag, false).then(() => this.tip("", 0, 0));
    }

    private click(event: PointerEvent): void {
        if (tool.value) {
            tool.value.click(this.at(event));
            this.hover(event);
            return;
        }
        const found = elementAt(this.stage, this.x, this.y);
        const joint = jointAt(this.stage, this.x, this.y);
        const picked =
            joint && (!found || found.table === "bodies") && this.nearJoint()
                ? { table: "joints", name: joint.name }
                : found;
        choose(picked && { table: picked.table, name: picked.name }, event.shiftKey || event.ctrlKey || event.metaKey);
    }

    /** Whether a joint is meant rather than the body below it: within a few pixels of its place. */
    private nearJoint(): boolean {
        const { scene: of, poses, camera } = this.stage;
        return (of?.joints ?? []).some((joint) => {
            const seen = camera.pixel(poses.place(joint.carriers[0], joint.point));
            return seen !== null && Math.hypot(seen[0] - this.x, seen[1] - this.y) < 6;
        });
    }

    private readonly twice = (event: MouseEvent): void => {
        if (this.onOverlay(event) || tool.value) return;
        this.place(event);
        const found = elementAt(this.stage, this.x, this.y);
        if (found && found.body >= 0) this.stage.focus(onRay(this.stage.camera.ray(this.x, this.y), found.near));
    };

    private readonly wheel = (event: WheelEvent): void => {
        event.preventDefault();
        this.place(event);
        const lines = event.deltaMode === 1 ? 16 : 1;
        const factor = Math.exp(0.0012 * lines * Math.max(-240, Math.min(240, event.deltaY)));
        this.stage.camera.zoom(factor, this.stage.camera.ray(this.x, this.y));
    };

    private leave(): void {
        this.inside = false;
        clearTimeout(this.hovering);
        this.hovering = undefined;
        this.tip("", 0, 0);
        if (hovered.value) hovered.value = null;
        this.preview(tool.value ? NOTHING : this.handles());
    }

    private hover(event: MouseEvent): void {
        if (this.hovering || this.onOverlay(event)) return;
        this.hovering = setTimeout(() => {
            this.hovering = undefined;
            if (!this.drag) this.lookUnder(event);
        }, HOVER);
    }

    private lookUnder(event: MouseEvent): void {
        const { stage } = this;
        const held = tool.value;
        if (held) {
            stage.tip = "";
            this.preview(held.hover?.(this.at(event)) ?? NOTHING);
            this.tip(stage.tip, this.x, this.y);
            if (hovered.value) hovered.value = null;
            return;
        }
        const found = elementAt(stage, this.x, this.y);
        const joint = this.nearJoint() ? jointAt(stage, this.x, this.y) : null;
        const one = joint ? { table: "joints", name: joint.name } : found && { table: found.table, name: found.name };
        if (one?.name !== hovered.value?.name || one?.table !== hovered.value?.table) hovered.value = one;
        this.tip(one ? (one.table === "bodies" ? one.name : `${nounOf(one.table)} ${one.name}`) : "", this.x, this.y);
        stage.canvas.style.cursor = one ? "pointer" : "default";
        this.preview(this.handles());
    }

    /** The points of the chosen body that can be dragged while time stands. */
    handles(): Preview {
        const { scene: of, poses } = this.stage;
        const one = chosen.value;
        if (!of || !live.value || selection.value.length !== 1 || one?.table !== "bodies" || now.frame?.status === 1)
            return NOTHING;
        const body = of.carriers.indexOf(one.name);
        if (body < 0 || body >= poses.count) return NOTHING;
        const points = of.points.filter((point) => point.body === body);
        return {
            marks: points.map(({ position }) => ({ place: poses.place(body, position), kind: "handle" as const })),
            lines: [],
        };
    }

    /** Show what the tool in hand, or the choice, marks. */
    preview({ marks, lines }: Preview): void {
        this.marks.marks = marks;
        this.marks.lines = lines;
        this.stage.request();
    }

    /** Marks follow bodies that move, and what was chosen. */
    refresh(): void {
        if (this.drag) this.preview(this.drag.kind === "shape" ? this.handles() : NOTHING);
        else if (!tool.value) this.preview(this.handles());
        else if (!this.inside) this.preview(NOTHING);
        else if (tool.value.hover)
            this.preview(tool.value.hover({ stage: this.stage, x: this.x, y: this.y, shift: false }));
    }
}
