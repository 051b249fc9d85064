// Keys of the page.

import { look, setLook } from "./look.ts";
import { order } from "./socket.ts";
import { choose, live, selection } from "./state.ts";
import { back, take, tools } from "./tools/tool.ts";
import { copyChosen, removeChosen } from "./panels/element.tsx";
import { dialog } from "./panels/files.tsx";
import { jog, jogs } from "./panels/jog.tsx";
import type { Way } from "./panels/jog.tsx";
import { playOrPause } from "./panels/transport.tsx";
import { view } from "./panels/view.tsx";

const VIEWS: Record<string, string> = { "0": "start", "1": "front", "2": "right", "3": "top" };
const ARROWS: Record<string, Way> = {
    ArrowLeft: "left",
    ArrowRight: "right",
    ArrowUp: "farther",
    ArrowDown: "nearer",
    PageUp: "upper",
    PageDown: "lower",
};

function withControl(key: string): boolean {
    const does: Record<string, () => void> = {
        z: () => void order("undo", {}),
        y: () => void order("redo", {}),
        Z: () => void order("redo", {}),
        d: () => void copyChosen(),
        s: () => (dialog.value = "save"),
        o: () => (dialog.value = "open"),
    };
    if (!live.value || !does[key]) return false;
    does[key]();
    return true;
}

function escape(): void {
    if (!back()) choose(null);
}

function plain(key: string): boolean {
    if (jogs() && key in ARROWS) {
        void jog(ARROWS[key]);
        return true;
    }
    if (key in VIEWS) {
        view.value?.lookFrom(VIEWS[key]);
        return true;
    }
    const does: Record<string, () => void> = {
        " ": playOrPause,
        ".": () => void order("step", {}),
        Home: () => void order("reset", {}),
        Escape: escape,
        f: () => view.value?.fit(),
        a: () => setLook({ reactions: !look.value.reactions }),
        v: () => setLook({ velocities: !look.value.velocities }),
        "?": () => (dialog.value = "help"),
        Delete: () => selection.value.length > 0 && live.value && removeChosen(),
    };
    if (!live.value) does[","] = () => void order("step", { count: -1 });
    const letter = key.length === 1 ? key.toLowerCase() : key;
    if (does[letter]) {
        does[letter]();
        return true;
    }
    const tool = tools.find((one) => one.key === letter && (live.value || one.always));
    if (!tool) return false;
    take(tool);
    return true;
}

/** Whether a key belongs to the field that has the focus. */
function isTyped(event: KeyboardEvent): boolean {
    const at = event.target as HTMLElement;
    if (at.closest?.("dialog")) return true;
    if (event.key === "Escape" && document.querySelector(":popover-open")) return true;
    if (at instanceof HTMLInputElement && at.type === "checkbox") return event.key === " ";
    if (at instanceof HTMLInputElement)
        return !(at.type === "range" && event.key === "Escape") && !(at.type === "range" && event.key === " ");
    if (at instanceof HTMLSelectElement || at instanceof HTMLTextAreaElement) return event.key !== "Escape";
    return at instanceof HTMLButtonElement && event.key === " ";
}

export function listen(): void {
    // a button that was clicked gives the keys back, so that Space plays and does not press it again
    window.addEventListener("click", (event) => {
        if (event.detail > 0) (event.target as HTMLElement).closest?.<HTMLElement>("button")?.blur();
    });
    window.addEventListener("keydown", (event) => {
        if (event.key === "Escape" && event.target instanceof HTMLInputElement && event.target.type !== "range")
            event.target.blur();
        if (isTyped(event) || event.altKey) return;
        const control = event.ctrlKey || event.metaKey;
        if (control ? withControl(event.key) : plain(event.key)) event.preventDefault();
    });
}
