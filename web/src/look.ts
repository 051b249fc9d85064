// What is shown, and how; kept by the browser from one visit to the next.

import { effect, signal } from "@preact/signals";

export type Look = {
    theme: "auto" | "light" | "dark";
    bodyNames: boolean;
    jointNames: boolean;
    reactions: boolean;
    moments: boolean;
    forces: boolean;
    contacts: boolean;
    velocities: boolean;
    accelerations: boolean;
    centres: boolean;
    loads: boolean;
    clusters: boolean; // bodies that move as one are coloured alike, in adaptive dynamics
    beams: string; // the quantity by which beams are coloured, "" for none
    points: boolean;
    dimensions: boolean;
    floor: boolean;
    grid: number; // m; 0 for a grid that suits the size
    snap: boolean;
    shadows: boolean;
    drawer: boolean;
    side: boolean;
};

const USUAL: Look = {
    theme: "auto",
    bodyNames: false,
    jointNames: false,
    reactions: false,
    moments: true,
    forces: false,
    contacts: false,
    velocities: false,
    accelerations: false,
    centres: false,
    loads: false,
    clusters: true,
    beams: "",
    points: false,
    dimensions: false,
    floor: true,
    grid: 0,
    snap: true,
    shadows: true,
    drawer: window.innerHeight > 700,
    side: true,
};

const KEY = "bellcrank look";

function kept(): Look {
    try {
        return { ...USUAL, ...(JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Look>) };
    } catch {
        return USUAL;
    }
}

const first = kept();
if (window.innerHeight <= 700) first.drawer = false;
export const look = signal<Look>(first);

effect(() => {
    const text = JSON.stringify(look.value);
    try {
        localStorage.setItem(KEY, text);
    } catch {
        // a page in a frame or from a file may not keep anything
    }
});

export function setLook(change: Partial<Look>): void {
    look.value = { ...look.value, ...change };
}

const system = window.matchMedia("(prefers-color-scheme: dark)");
export const dark = signal(false);

function paint(): void {
    const { theme } = look.value;
    dark.value = theme === "dark" || (theme === "auto" && system.matches);
    document.documentElement.classList.toggle("dark", dark.value);
}

system.addEventListener("change", paint);
effect(paint);
