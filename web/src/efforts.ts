// Plots the efforts of drives once a marker is jogged: what the motors of the mechanism would have to exert.

import { effect } from "@preact/signals";
import { knownIn, plot } from "./plotted.ts";
import { scene, state } from "./state.ts";

const MOST = 6; // signals

let done = false;

effect(() => {
    const of = scene.value;
    if (!state.value?.jogged) done = false;
    else if (of && !done) {
        const efforts = [...knownIn(of).keys()].filter((name) => /^drive\..*effort/.test(name));
        if (!efforts.length) return;
        done = true;
        plot(efforts.slice(0, MOST));
    }
});
