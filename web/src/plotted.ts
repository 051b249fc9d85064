// The signals that are plotted: which ones, and their data.

import { computed, signal } from "@preact/signals";
import type { Scene, Signals } from "./protocol.ts";
import { whenScene, whenSignals } from "./socket.ts";
import { live, scene } from "./state.ts";

export const COLORS = ["#2f6fb3", "#d9822b", "#3d9950", "#a5537f", "#6b7480", "#a08a1e", "#0b8f9c", "#c2453a"];
export const MOST = COLORS.length;
const LATELY = 20; // s that a plot of a running session covers

export type Known = { name: string; label: string; unit: string; usual: number };

/** Names of plotted signals, in order; null before anybody has chosen. */
export const wanted = signal<string[] | null>(null);
export const all = signal(false);
export const seconds = computed(() => (live.value && !all.value ? LATELY : undefined));

const listed = new WeakMap<Scene, Map<string, Known>>();

/** All signals of a scene by name. */
export function knownIn(of: Scene): Map<string, Known> {
    let found = listed.get(of);
    if (!found) {
        found = new Map();
        for (const { group, signals } of of.signals) {
            for (const [label, unit, usual] of signals)
                found.set(`${group}.${label}`, { name: `${group}.${label}`, label, unit, usual });
        }
        listed.set(of, found);
    }
    return found;
}

function firstOf(of: Scene): string[] {
    const known = [...knownIn(of).values()];
    const best = known.filter((one) => one.usual === 2);
    return (best.length ? best : known.filter((one) => one.usual === 1)).slice(0, 3).map((one) => one.name);
}

export const plotted = computed<string[]>(() => {
    const of = scene.value;
    if (!of) return [];
    const known = knownIn(of);
    const kept = wanted.value?.filter((name) => known.has(name));
    return wanted.value && (kept!.length > 0 || wanted.value.length === 0) ? kept! : firstOf(of);
});

export function plot(names: string[]): void {
    wanted.value = [...new Set(names)].slice(-MOST);
}

export function toggle(name: string): void {
    const now = plotted.peek();
    plot(now.includes(name) ? now.filter((one) => one !== name) : [...now, name]);
}

/** Times and columns, in the order of `names`; replaced as a whole where another set was asked for. */
export const data: { names: string[]; time: number[]; columns: number[][] } = { names: [], time: [], columns: [] };
export const changes = signal(0);

function take({ fresh, time, columns }: Signals): void {
    if (fresh) {
        data.names = plotted.peek().slice(0, columns.length);
        data.time = [...time];
        data.columns = columns.map((column) => [...column]);
    } else {
        if (columns.length !== data.columns.length) return;
        data.time.push(...time);
        columns.forEach((column, k) => data.columns[k].push(...column));
    }
    const span = seconds.peek();
    const last = data.time.at(-1) ?? 0;
    if (span !== undefined && data.time.length && data.time[0] < last - 1.2 * span) {
        const from = data.time.findIndex((t) => t >= last - span);
        data.time.splice(0, from);
        for (const column of data.columns) column.splice(0, from);
    }
    changes.value += 1;
}

whenSignals(take);
whenScene(() => {
    if (data.columns.length !== plotted.peek().length) changes.value += 1;
});
