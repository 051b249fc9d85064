// What a tool is, and which one is in the hand.

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { IconName } from "../icons.tsx";
import { panel } from "../state.ts";
import type { Mark } from "../stage/marks.ts";
import type { Stage } from "../stage/stage.ts";
import type { Vec3 } from "../protocol.ts";

/** Where the pointer is, in pixels of the picture. */
export type At = { stage: Stage; x: number; y: number; shift: boolean };

export type Preview = { marks: Mark[]; lines: [Vec3, Vec3][] };

export type Tool = {
    id: string;
    label: string;
    icon: IconName;
    key?: string;
    /** What to do next, in words. */
    hint(): string;
    /** Settings at the right; none without. */
    settings?(): ComponentChildren;
    /** A click. */
    click(at: At): void;
    /** What a click would do here. */
    hover?(at: At): Preview;
    /** The first of two steps is taken back; false where there was none. */
    back?(): boolean;
    begin?(stage: Stage): void;
    end?(stage: Stage): void;
    /** Whether points that can be clicked are shown, and the plane with its grid. */
    points?: boolean;
    plane?: boolean;
    /** Also for recorded runs. */
    always?: boolean;
};

export const NOTHING: Preview = { marks: [], lines: [] };

export const tool = signal<Tool | null>(null);
export const tools: Tool[] = [];
let stage: Stage | null = null;

export const bind = (to: Stage): void => void (stage = to);

/** Take a tool into the hand; null puts it back. */
export function take(next: Tool | null): void {
    if (!stage) return;
    tool.value?.back?.();
    tool.value?.end?.(stage);
    tool.value = next;
    next?.begin?.(stage);
    if (next?.settings) panel.value = "tool";
    else if (panel.value === "tool") panel.value = "element";
    stage.request();
}

/** Esc: back by one step, else put the tool back. Whether there was anything to do. */
export function back(): boolean {
    if (!tool.value) return false;
    if (!tool.value.back?.()) take(null);
    stage?.request();
    return true;
}
