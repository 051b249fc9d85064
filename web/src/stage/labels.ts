// Labels over the picture: one pool of elements, placed at points of the page for each picture.

import type { Vec3 } from "../protocol.ts";
import type { Stage } from "./stage.ts";

export type Label = {
    place: Vec3;
    text: string;
    kind: "" | "force" | "moment" | "velocity" | "acceleration" | "size";
    dy?: number;
    edit?: () => void;
};

type Box = { x: number; y: number; w: number; h: number };

const HEIGHT = 17;
const TRIES = [0, -HEIGHT, HEIGHT, -2 * HEIGHT, 2 * HEIGHT, -3 * HEIGHT];

export class Labels {
    private readonly pool: HTMLElement[] = [];
    private readonly texts: string[] = [];
    private readonly edits: (undefined | (() => void))[] = [];
    private wanted: Label[] = [];

    begin(): void {
        this.wanted = [];
    }

    put(label: Label): void {
        this.wanted.push(label);
    }

    /** Place them so that none covers another, as far as there is room. */
    end(stage: Stage): void {
        const taken: Box[] = [];
        let count = 0;
        for (const label of this.wanted) {
            const seen = stage.camera.pixel(label.place);
            if (!seen) continue;
            const w = 6.6 * label.text.length + 10;
            const x = seen[0] - w / 2;
            if (x + w < 0 || x > stage.camera.width || seen[1] < 0 || seen[1] > stage.camera.height) continue;
            const home = seen[1] - HEIGHT / 2 + (label.dy ?? 0);
            const free = TRIES.map((dy) => ({ x, y: home + dy, w, h: HEIGHT })).find(
                (box) => !taken.some((one) => overlap(one, box)),
            );
            if (!free && (label.kind === "force" || label.kind === "moment")) continue; // smaller ones give way
            const box = free ?? { x, y: home, w, h: HEIGHT };
            taken.push(box);
            this.show(
                count,
                label,
                stage.overlay,
                Math.round(Math.max(0, Math.min(x, stage.camera.width - w))),
                Math.round(Math.max(0, Math.min(box.y, stage.camera.height - HEIGHT))),
            );
            count += 1;
        }
        for (let k = count; k < this.pool.length; k += 1) this.pool[k].hidden = true;
    }

    private show(k: number, label: Label, parent: HTMLElement, x: number, y: number): void {
        if (!this.pool[k]) {
            const element = document.createElement("div");
            element.addEventListener("dblclick", () => this.edits[k]?.());
            parent.append(element);
            this.pool[k] = element;
            this.texts[k] = "";
        }
        const element = this.pool[k];
        if (this.texts[k] !== label.text) {
            this.texts[k] = label.text;
            element.textContent = label.text;
        }
        this.edits[k] = label.edit;
        const kind = label.kind ? `tag ${label.kind}` : "tag";
        if (element.className !== kind) element.className = kind;
        if (element.hidden) element.hidden = false;
        element.style.transform = `translate(${x}px, ${y}px)`;
    }
}

const overlap = (a: Box, b: Box) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
