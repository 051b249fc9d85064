// Game controllers and space mice: sticks turn and shift the view or jog the marker, a button plays and pauses.
//
// Nothing is looked at while none is connected.

import { jogAlong, jogs } from "./panels/jog.tsx";
import { playOrPause } from "./panels/transport.tsx";
import { view } from "./panels/view.tsx";
import { waysOf } from "./sticks.ts";
import type { Ways } from "./sticks.ts";

const TURN = 2.2; // rad a second at the end of a stick's way
const SHIFT = 500; // pixels a second
const ZOOM = 1.2; // e-folds a second
const JOG = 90; // ms between jogs

let last = 0;
let jogged = 0;
let pressed = false;
let looking = false;

function look(moment: number): void {
    const pads = navigator.getGamepads().filter((pad) => pad !== null);
    looking = pads.length > 0;
    if (!looking) return;
    requestAnimationFrame(look);
    const passed = Math.min((moment - last) / 1000, 0.1);
    last = moment;
    const ways = pads.map(waysOf);
    const sum = (name: Exclude<keyof Ways, "plays">) => ways.reduce((all, one) => all + one[name], 0);
    const [right, ahead, up] = [sum("right"), sum("ahead"), sum("up")];
    const plays = ways.some((one) => one.plays);
    if (plays && !pressed) playOrPause();
    pressed = plays;
    const stage = view.peek();
    if (!stage) return;
    const { camera } = stage;
    const [turn, tilt] = [sum("turn"), sum("tilt")];
    if (turn || tilt) camera.turn(TURN * passed * turn, TURN * passed * tilt);
    if (!right && !ahead && !up) return;
    if (jogs()) {
        if (moment - jogged < JOG) return;
        jogged = moment;
        void jogAlong(right, ahead, up);
        return;
    }
    if (right || up) camera.shift(-SHIFT * passed * right, SHIFT * passed * up);
    if (ahead) camera.zoom(Math.exp(-ZOOM * passed * ahead), camera.ray(camera.width / 2, camera.height / 2));
}

export function listenToControllers(): void {
    window.addEventListener("gamepadconnected", () => {
        if (looking) return;
        looking = true;
        requestAnimationFrame((moment) => {
            last = moment;
            look(moment);
        });
    });
}
