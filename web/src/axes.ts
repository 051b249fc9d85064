// What the axes of all charts look like.

import { dark } from "./look.ts";

/** Colours, lines and letters of an axis of uPlot, light or dark. */
export function axisLook() {
    const line = dark.peek() ? "#343b44" : "#e6eaee";
    return {
        stroke: dark.peek() ? "#9aa5b1" : "#66717d",
        grid: { stroke: line, width: 1 },
        ticks: { stroke: line, width: 1, size: 4 },
        font: "11px system-ui, sans-serif",
    };
}
