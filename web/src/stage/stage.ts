// The stage: it draws the scene when something has changed, and rests otherwise.

import { Color, DirectionalLight, Fog, HemisphereLight, PCFShadowMap, Scene as Three, WebGLRenderer } from "three";
import { add, along, distance, dot, middle, norm, round125, scale, sub, unit } from "../maths.ts";
import type { Frame, Scene, Vec3 } from "../protocol.ts";
import type { Look } from "../look.ts";
import { now } from "../state.ts";
import { Camera } from "./camera.ts";
import { Grid } from "./floor.ts";
import { Pieces } from "./pieces.ts";
import { Poses } from "./poses.ts";
import { LEVELS, Quality } from "./quality.ts";

const REST = 300; // ms without a change, after which a full picture is drawn
const STILL = 1.5; // as many pixels across as the screen has, of full pictures without smoothing of edges
const SKY = { light: 0xeef2f6, dark: 0x23272d };

/** What draws beside the pieces: arrows, marks, labels. Called before each picture. */
export type Layer = (stage: Stage) => void;

export class Stage {
    readonly camera = new Camera();
    readonly poses = new Poses();
    readonly three = new Three();
    readonly layers: Layer[] = [];
    readonly overlay: HTMLElement;
    readonly canvas: HTMLCanvasElement;
    readonly software: boolean;
    readonly quality: Quality;
    pieces: Pieces | null = null;
    scene: Scene | null = null;
    /** A point of the plane in which a tool draws, and its normal; null while none does. */
    plane: { point: Vec3; normal: Vec3 } | null = null;
    /** Pictures drawn, frames placed, and what they took, ms. */
    readonly counts = { pictures: 0, placed: 0, rendering: 0, placing: 0 };
    cell = 0.1;
    /** A text beside the pointer. */
    tip = "";

    private readonly renderer: WebGLRenderer;
    private readonly floor = new Grid(true);
    private readonly drawing = new Grid(false);
    private readonly sky = new HemisphereLight(0xffffff, 0xbebab4, 1.5);
    private readonly key = new DirectionalLight(0xffffff, 2.1);
    private readonly fill = new DirectionalLight(0xffffff, 0.7);
    private readonly fog = new Fog(SKY.light, 1, 10);
    private asked = false;
    private timer: ReturnType<typeof setTimeout> | undefined;
    private ratio = 0;
    private lowest = 0;
    private middle: Vec3 = [0, 0, 0];
    private radius = 1;
    private usual: Vec3 = [0, 0, 1];
    private look: Look | null = null;
    private dark = false;
    private followed = -1;
    private followedAt: Vec3 | null = null;

    constructor(readonly box: HTMLElement) {
        const canvas = document.createElement("canvas");
        canvas.tabIndex = 0;
        canvas.setAttribute("aria-label", "Picture of the mechanism");
        this.software = isSoftware();
        const context = canvas.getContext("webgl2", {
            alpha: false, // so that nothing is mixed with what lies below
            antialias: !this.software,
            powerPreference: "high-performance",
        });
        if (!context) throw new Error("there is no WebGL 2");
        this.renderer = new WebGLRenderer({ canvas, context });
        this.renderer.shadowMap.enabled = true;
        this.renderer.shadowMap.type = PCFShadowMap;
        this.renderer.shadowMap.autoUpdate = false;
        this.quality = new Quality(this.software);
        this.canvas = canvas;
        this.overlay = document.createElement("div");
        this.overlay.className = "overlay";
        box.prepend(canvas, this.overlay);
        this.key.castShadow = true;
        this.key.shadow.mapSize.set(1024, 1024);
        this.key.shadow.bias = -0.0005;
        this.three.add(
            this.floor.group,
            this.drawing.group,
            this.sky,
            this.key,
            this.key.target,
            this.fill,
            this.fill.target,
        );
        this.three.fog = this.fog;
        this.drawing.group.visible = false;
        this.camera.changed = () => this.request();
        new ResizeObserver(() => this.resize()).observe(box);
        canvas.addEventListener("webglcontextrestored", () => this.request());
        this.resize();
    }

    private resize(): void {
        const { clientWidth, clientHeight } = this.box;
        if (!clientWidth || !clientHeight) return;
        this.ratio = 0;
        this.camera.resize(clientWidth, clientHeight);
    }

    /** Draw a picture soon. */
    request(): void {
        if (this.asked) return;
        this.asked = true;
        requestAnimationFrame(this.draw);
    }

    private readonly draw = (moment: number): void => {
        this.asked = false;
        this.quality.note(moment);
        this.render(this.quality.level);
        clearTimeout(this.timer);
        if (this.quality.level > 0) this.timer = setTimeout(this.rest, REST);
    };

    private readonly rest = (): void => {
        if (this.asked || document.hidden) return;
        this.render(0, this.software ? STILL : 1);
    };

    private render(number: number, finer = 1): void {
        const begun = performance.now();
        const level = LEVELS[number];
        const ratio = finer * level.pixels * Math.min(window.devicePixelRatio, 2);
        if (ratio !== this.ratio) {
            this.ratio = ratio;
            this.renderer.setPixelRatio(ratio);
            this.renderer.setSize(this.camera.width, this.camera.height, false);
        }
        this.lights(level.shadows && (this.look?.shadows ?? true) && (this.look?.floor ?? true));
        this.layGrids();
        this.pieces?.crowd?.simplify(number > 1);
        for (const layer of this.layers) layer(this);
        this.renderer.render(this.three, this.camera.three);
        this.counts.pictures += 1;
        this.counts.rendering += performance.now() - begun;
    }

    private lights(shadows: boolean): void {
        const { up } = this.camera;
        const reach = 2 * this.radius;
        const view = this.usual;
        const right = unit([
            view[1] * up[2] - view[2] * up[1],
            view[2] * up[0] - view[0] * up[2],
            view[0] * up[1] - view[1] * up[0],
        ]);
        this.sky.position.set(...up);
        const put = (light: DirectionalLight, way: Vec3) => {
            light.position.set(...along(this.middle, unit(way), 2 * reach));
            light.target.position.set(...this.middle);
        };
        put(this.key, add(add(scale(up, 1.6), scale(view, 0.9)), scale(right, 0.6)));
        put(this.fill, add(add(scale(up, 0.3), view), scale(right, -0.9)));
        this.key.castShadow = shadows;
        this.floor.shadows(shadows);
        if (shadows) {
            const seen = this.key.shadow.camera;
            [seen.left, seen.right, seen.bottom, seen.top, seen.near, seen.far] = [
                -reach,
                reach,
                -reach,
                reach,
                0.1 * reach,
                5 * reach,
            ];
            seen.updateProjectionMatrix();
            this.renderer.shadowMap.needsUpdate = true;
        }
        this.floor.thinOut(Math.abs(dot(this.camera.axes[2], up)));
        const away = this.camera.away;
        const cell = round125(Math.max(this.size, 1e-4) / 8);
        this.fog.near = away + 4 * cell;
        this.fog.far = 1.5 * away + 22 * cell;
    }

    /** Draw another scene from its first frame on. The camera stays, except for the first one. */
    show(scene: Scene, frame: Frame | null): void {
        this.coming?.dispose();
        this.coming = new Pieces(scene);
        if (frame) this.take(frame);
    }

    /** The pieces of a scene of which no frame has come yet. */
    private coming: Pieces | null = null;
    /** Called when another scene is shown. */
    changed: () => void = () => undefined;

    private swap(pieces: Pieces): void {
        if (this.pieces) {
            this.three.remove(this.pieces.group);
            this.pieces.dispose();
        }
        this.coming = null;
        this.pieces = pieces;
        this.scene = pieces.scene;
        this.three.add(pieces.group);
        this.camera.up = this.scene.up;
        this.usual = this.scene.views.start.toward;
        if (this.look) pieces.clear(this.look.contacts);
    }

    /** Move everything to a frame. */
    take(frame: Frame): void {
        const begun = performance.now();
        const first = this.scene === null;
        const swaps = this.coming !== null && frame.edition === this.coming.scene.edition;
        const before = this.scene;
        if (swaps) this.swap(this.coming!);
        if (!this.pieces || frame.edition !== this.scene?.edition) return;
        const shift = this.poses.take(frame, now.tree);
        if (shift && !first) {
            this.camera.carry(scale(shift, -1));
            this.middle = sub(this.middle, shift);
            this.lowest -= dot(shift, this.camera.up);
        }
        this.pieces.place(this.poses);
        if (swaps) {
            const other = first || this.anew || this.isOther(before);
            this.anew = false;
            this.measure(other);
            if (other) this.fit(true);
            this.changed();
        } else this.lower();
        this.follow();
        this.counts.placed += 1;
        this.counts.placing += performance.now() - begun;
        this.request();
    }

    /** Whether the next scene is another mechanism, at which the camera is to be pointed. */
    anew = false;

    /** Whether this is quite another mechanism: no body is left of one that had bodies, or many came at once. */
    private isOther(before: Scene | null): boolean {
        const had = new Set(before?.carriers.slice(0, -1));
        const now = this.scene!.carriers.slice(0, -1);
        return now.length > 0 && (had.size > 0 ? !now.some((name) => had.has(name)) : now.length > 1);
    }

    /** Draw the present frame again. */
    again(): void {
        this.pieces?.place(this.poses);
        this.request();
    }

    private follow(): void {
        if (this.followed < 0 || this.followed >= this.poses.count) return;
        const at = this.poses.position(this.followed);
        if (this.followedAt) this.camera.carry(sub(at, this.followedAt));
        this.followedAt = at;
    }

    /** Let the camera go with a body; -1 for none. */
    followBody(body: number): void {
        this.followed = body;
        this.followedAt = body >= 0 && body < this.poses.count ? this.poses.position(body) : null;
    }

    /** Take the measure of the mechanism, for lights, floor and grid. */
    private measure(anew: boolean): void {
        const box = this.poses.frame && this.pieces?.box(this.poses);
        if (box) {
            this.middle = middle(...box);
            this.radius = Math.max(0.5 * distance(...box), 1e-4);
        } else if (anew) {
            this.radius = 0.5 * (this.scene?.size ?? 1);
        }
        const { up } = this.camera;
        if (box) {
            const below = [0, 1, 2].reduce((sum, k) => sum + Math.min(box[0][k] * up[k], box[1][k] * up[k]), 0);
            this.lowest = anew ? below : Math.min(this.lowest, below);
        }
        this.lower();
    }

    private lower(): void {
        const { up } = this.camera;
        let lowest = this.lowest;
        if (this.pieces?.crowd) {
            this.floor.put(along(this.middle, up, this.lowest - dot(this.middle, up)), up);
            return;
        }
        for (let body = 0; body < this.poses.count; body += 1)
            lowest = Math.min(lowest, dot(this.poses.position(body), up));
        for (const { body, position } of this.scene?.points ?? []) {
            if (body < this.poses.count)
                lowest = Math.min(lowest, dot(this.poses.place(body, position), up) - 0.02 * this.radius);
        }
        if (lowest < this.lowest) this.lowest = lowest - 0.1 * this.radius;
        this.floor.put(along(this.middle, up, this.lowest - dot(this.middle, up)), up);
    }

    /** Show the grid of the plane in which a tool draws; null to hide it. */
    drawIn(plane: { point: Vec3; normal: Vec3 } | null): void {
        this.plane = plane;
        this.request();
    }

    /** Grids: that of the floor suits the mechanism, that of the plane one draws in suits how near one looks. */
    private layGrids(): void {
        const { away, target } = this.camera;
        this.cell = this.look?.grid || round125(away / 25);
        this.floor.set(
            this.look?.grid && this.look.grid > this.radius / 30
                ? this.look.grid
                : round125(Math.max(this.size, 1e-4) / 8),
        );
        const { plane } = this;
        this.drawing.group.visible = plane !== null;
        if (!plane) return;
        const seen = this.cell > away / 120 ? this.cell : round125(away / 25);
        this.drawing.set(seen);
        const near = along(target, plane.normal, dot(sub(plane.point, target), plane.normal));
        const axis = plane.normal.findIndex((x) => Math.abs(x) > 0.9999);
        const world = this.poses
            .toWorld(near)
            .map((x, k) => (axis < 0 || k === axis ? x : 5 * seen * Math.round(x / (5 * seen))));
        this.drawing.put(axis < 0 ? plane.point : this.poses.toPage(world as Vec3), plane.normal);
    }

    paint(look: Look, dark: boolean): void {
        const clears = this.look?.contacts !== look.contacts;
        this.look = look;
        this.dark = dark;
        const color = new Color(dark ? SKY.dark : SKY.light);
        this.three.background = color;
        this.fog.color = color;
        this.floor.group.visible = look.floor;
        this.floor.paint(this.dark);
        this.drawing.paint(this.dark);
        if (clears) this.pieces?.clear(look.contacts);
        this.request();
    }

    /** Point the camera so that everything is seen; from the usual side, or from where it looks now. */
    fit(anew = false): void {
        if (!this.scene) return;
        const box = this.pieces?.box(this.poses);
        const [low, high]: [Vec3, Vec3] = box ?? [
            scale([1, 1, 1], -0.5 * this.scene.size),
            scale([1, 1, 1], 0.5 * this.scene.size),
        ];
        const radius = Math.max(0.5 * distance(low, high), 1e-4);
        if (anew) this.camera.look(this.scene.views.start, middle(low, high), radius);
        else
            this.camera.frame(middle(low, high), radius, sub(this.camera.eye, this.camera.target), this.camera.axes[1]);
    }

    /** Look from a named side of the scene, at what was looked at. */
    lookFrom(name: string): void {
        const view = this.scene?.views[name];
        if (!view) return;
        if (name === "start") this.fit(true);
        else {
            const box = this.pieces?.box(this.poses);
            const [low, high]: [Vec3, Vec3] = box ?? [
                [-0.5, -0.5, -0.5],
                [0.5, 0.5, 0.5],
            ];
            this.camera.look(view, middle(low, high), Math.max(0.5 * distance(low, high), 1e-4));
        }
    }

    /** Look at one body or at one point. */
    focus(place: Vec3): void {
        this.camera.carry(sub(place, this.camera.target));
    }

    /** A picture as PNG, of full quality. */
    picture(): Promise<Blob | null> {
        this.render(0);
        return new Promise((resolve) => this.canvas.toBlob(resolve, "image/png"));
    }

    /** How large the mechanism is, m. */
    get size(): number {
        return Math.max(this.scene?.size ?? 1, norm([1e-6, 0, 0]));
    }
}

/** Whether pictures are drawn by the processor. */
function isSoftware(): boolean {
    const context = document.createElement("canvas").getContext("webgl2");
    const info = context?.getExtension("WEBGL_debug_renderer_info");
    const name = info && context ? String(context.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
    context?.getExtension("WEBGL_lose_context")?.loseContext();
    return /swiftshader|llvmpipe|software|basic render/i.test(name);
}
