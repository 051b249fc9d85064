// What the page knows and shows. Panels read these signals; the socket and the tools write them.

import { computed, signal } from "@preact/signals";
import type { Tree } from "./tree.ts";
import type { Answer, Frame, Inspected, Kinds, Loads, Log, Scene, State } from "./protocol.ts";

export type Picked = { table: string; name: string };

export const scene = signal<Scene | null>(null);
export const state = signal<State | null>(null);
export const connected = signal(false);
export const ended = signal("");
export const log = signal<Log["entries"]>([]);
export const inspected = signal<Inspected | null>(null);
export const loads = signal<Loads | null>(null);
export const kinds = signal<Kinds>({});
export const recorded = signal(false);

/** The last frame that was applied; `shown` follows it five times a second, for numbers in panels. */
export const now: { frame: Frame | null; tree: Tree | null } = { frame: null, tree: null };
export const shown = signal<Frame | null>(null);

export const selection = signal<Picked[]>([]);
export const chosen = computed<Picked | null>(() => selection.value.at(-1) ?? null);
export const hovered = signal<Picked | null>(null);

export const live = computed(() => state.value?.live ?? false);
/** Whether bodies can be pulled: a session that simulates, be it one in which nothing can be built. */
export const pulls = computed(() => live.value || adaptive.value);
export const adaptive = computed(() => (state.value?.adaptive ?? null) !== null);

export function choose(picked: Picked | null, more = false): void {
    if (picked === null) {
        if (!more) selection.value = [];
        return;
    }
    const same = (one: Picked) => one.table === picked.table && one.name === picked.name;
    if (!more) selection.value = [picked];
    else if (selection.value.some(same)) selection.value = selection.value.filter((one) => !same(one));
    else selection.value = [...selection.value, picked];
    if (panel.value !== "tool") panel.value = "element";
}

/** What the panel at the right shows below the tree. */
export const panel = signal<"element" | "mechanism" | "tool" | "jog" | "adaptive">("mechanism");
export const drawer = signal<"plots" | "commands" | "script" | "sections">("plots");

// Messages over the view
export type Notice = { key: number; text: string; error: boolean };
export const notices = signal<Notice[]>([]);
let count = 0;

export function tell(text: string, error = false): void {
    if (!text) return;
    const notice = { key: ++count, text, error };
    notices.value = [...notices.value.filter((one) => one.text !== text).slice(-3), notice];
    setTimeout(() => dismiss(notice.key), error ? 9000 : 4000);
}

export function dismiss(key: number): void {
    notices.value = notices.value.filter((one) => one.key !== key);
}

/** Why a command was refused, in words for people. */
export const refusal = (answer: Answer): string => answer.text || answer.error?.message || "It was not done.";
