// What somebody has set for a mechanism, kept by the browser, under its name, from one visit to the next.

import { effect, signal } from "@preact/signals";
import { dimensions } from "./dimensions.ts";
import type { Dimension } from "./dimensions.ts";
import { all, wanted } from "./plotted.ts";
import type { Scene, Vec3 } from "./protocol.ts";
import { script } from "./script.ts";
import { whenScene } from "./socket.ts";
import { drawer, panel, selection } from "./state.ts";
import type { Picked } from "./state.ts";
import { putTraces, traces } from "./traces.ts";
import type { Trace } from "./traces.ts";

/** Where the camera stands and what it looks at, in the world. */
export type Standing = { eye: Vec3; target: Vec3; up: Vec3 };

/** The body that the camera follows, "" for none. */
export const following = signal("");

type Kept = {
    moment: number;
    carriers: string[];
    traces: Trace[];
    dimensions: Dimension[];
    plots: string[] | null;
    script: string;
    all: boolean;
    selection: Picked[];
    following: string;
    drawer: typeof drawer.value;
    panel: typeof panel.value;
    standing: Standing | null;
};

const KEY = "bellcrank of ";
const MOST = 30; // mechanisms
const DELAY = 400; // ms after a change

let name: string | null = null;
let carriers: string[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;
let standing: () => Standing | null = () => null;
/** Where the camera stood at the last visit, until it stands there again. */
let stood: Standing | null = null;

function read(key: string): Partial<Kept> | null {
    try {
        return JSON.parse(localStorage.getItem(key) ?? "null") as Partial<Kept> | null;
    } catch {
        return null; // a page in a frame or from a file may not keep anything
    }
}

function write(): void {
    clearTimeout(timer);
    timer = undefined;
    if (name === null || !carriers.length) return;
    const kept: Kept = {
        moment: Date.now(),
        carriers,
        traces: traces.peek(),
        dimensions: dimensions.peek(),
        plots: wanted.peek(),
        script: script.peek(),
        all: all.peek(),
        selection: selection.peek(),
        following: following.peek(),
        drawer: drawer.peek(),
        panel: panel.peek() === "tool" ? "element" : panel.peek(),
        standing: stood ?? standing(),
    };
    try {
        localStorage.setItem(KEY + name, JSON.stringify(kept));
        const others = Object.keys(localStorage).filter((key) => key.startsWith(KEY));
        const moment = (key: string) => read(key)?.moment ?? 0;
        if (others.length > MOST)
            for (const key of others.sort((a, b) => moment(b) - moment(a)).slice(MOST)) localStorage.removeItem(key);
    } catch {
        // as above
    }
}

function writeSoon(): void {
    timer ??= setTimeout(write, DELAY);
}

/** Set what was set for a mechanism at the last visit, as far as its bodies are still there. */
function restore(of: Scene): void {
    const kept = read(KEY + of.name);
    if (!kept) return;
    const known = (body: string) => of.carriers.includes(body);
    putTraces((kept.traces ?? []).filter((trace) => known(trace.body)));
    dimensions.value = (kept.dimensions ?? []).filter(({ from, to }) => known(from.body) && known(to.body));
    wanted.value = kept.plots ?? null;
    script.value = kept.script ?? "";
    all.value = kept.all ?? false;
    selection.value = (kept.selection ?? []).filter(
        (one) => one.name in ((of.document[one.table] as object | undefined) ?? {}),
    );
    following.value = known(kept.following ?? "") ? kept.following! : "";
    drawer.value = kept.drawer ?? drawer.value;
    panel.value = kept.panel ?? panel.value;
    stood = kept.carriers?.join() === carriers.join() ? (kept.standing ?? null) : null;
}

/** Where the camera is to stand at the first picture of a mechanism that was seen before; null where it suits. */
export function takeStanding(): Standing | null {
    const found = stood;
    stood = null;
    return found;
}

/** Keep where a camera stands. changed: is called with what is to be called when it has moved. */
export function keepStanding(where: () => Standing | null, changed: (moved: () => void) => void): void {
    standing = where;
    changed(writeSoon);
}

whenScene((of) => {
    carriers = of.carriers.slice(0, -1);
    if (of.name === name) return;
    name = of.name;
    if (!carriers.length) return; // one that is built from nothing begins anew
    try {
        restore(of);
    } catch (error) {
        console.info("what was kept of the last visit is not understood", error);
    }
});
effect(() => {
    void [traces.value, dimensions.value, wanted.value, all.value, selection.value, following.value];
    void [drawer.value, panel.value, script.value];
    if (name !== null) writeSoon();
});
window.addEventListener("pagehide", () => timer !== undefined && write());
