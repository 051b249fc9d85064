// Jogging: buttons and keys that move a marker as seen in the picture; drives and motors follow.

import { signal } from "@preact/signals";
import { along, cross, norm, scale } from "../maths.ts";
import type { Vec3 } from "../protocol.ts";
import { order, ask } from "../socket.ts";
import { panel, scene, state } from "../state.ts";
import { Choice } from "../tools/settings.tsx";
import { short } from "../words.ts";
import { playing } from "./transport.tsx";
import { view } from "./view.tsx";

const marker = signal("");
const level = signal(false); // whether the marker keeps its axes
const share = signal(0.2); // of the mechanism's size in a second
const HELD = 0.25; // s that a press lasts
const AGAIN = 90; // ms between presses of a button that is held

export const WAYS = ["left", "right", "farther", "nearer", "upper", "lower"] as const;
export type Way = (typeof WAYS)[number];

/** The world axis closest to a direction as the camera sees it; left is left in the picture. */
export function direction(way: Way, into: Vec3, up: Vec3): Vec3 {
    if (way === "upper" || way === "lower") return way === "upper" ? up : scale(up, -1);
    const level = into.map((x, k) => (Math.abs(up[k]) > 0.5 ? 0 : x));
    const axis = level.reduce((best, x, k) => (Math.abs(x) > Math.abs(level[best]) ? k : best), 0);
    const ahead: Vec3 = [0, 0, 0];
    ahead[axis] = Math.sign(level[axis]) || 1;
    if (way === "farther") return ahead;
    if (way === "nearer") return scale(ahead, -1);
    return way === "left" ? cross(up, ahead) : cross(ahead, up);
}

let begun = false;

/** Move the marker a little. */
export async function jog(way: Way): Promise<void> {
    const stage = view.value;
    if (!stage) return;
    const [, , toward] = stage.camera.axes;
    await jogBy(direction(way, scale(toward, -1), stage.camera.up));
}

/** Move the marker a little to the right, away and up, each from -1 to 1. */
export async function jogAlong(right: number, ahead: number, upward: number): Promise<void> {
    const stage = view.value;
    if (!stage) return;
    const [, , toward] = stage.camera.axes;
    const ways = (["right", "farther", "upper"] as const).map((way) =>
        direction(way, scale(toward, -1), stage.camera.up),
    );
    const way = [right, ahead, upward].reduce<Vec3>((all, part, k) => along(all, ways[k], part), [0, 0, 0]);
    await jogBy(scale(way, 1 / Math.max(norm(way), 1)));
}

async function jogBy(way: Vec3): Promise<void> {
    const name = marker.value || state.value?.markers[0];
    if (!name || !view.value) return;
    const velocity = scale(way, share.value * view.value.size);
    const given = { marker: name, velocity, duration: HELD, level: level.value };
    if (begun && state.value?.jogged) void ask("jog", given);
    else {
        begun = true;
        await order("jog", given);
    }
    if (!playing()) void order("play", {});
}

let timer: ReturnType<typeof setInterval> | undefined;

function hold(way: Way): void {
    stop();
    void jog(way);
    timer = setInterval(() => void jog(way), AGAIN);
}

function stop(): void {
    clearInterval(timer);
}

function Button({ way, sign }: { way: Way; sign: string }) {
    return (
        <button
            aria-label={`Jog ${way}`}
            title={`Hold to move ${way}`}
            onPointerDown={() => hold(way)}
            onPointerUp={stop}
            onPointerLeave={stop}
            onPointerCancel={stop}
            onKeyDown={(event) => event.key === "Enter" && void jog(way)}
        >
            {sign}
        </button>
    );
}

export const jogs = () => panel.value === "jog";

export function Jog() {
    const now = state.value;
    const of = scene.value;
    if (!now?.live || !now.markers.length) return <p class="quiet pane">There is no body yet.</p>;
    if (!now.markers.includes(marker.value)) marker.value = now.markers[0];
    const size = of?.size ?? 1;
    return (
        <div class="pane">
            <p class="quiet">
                Hold a button, or an arrow key while this panel is open: the marker moves that way, and drives follow.
                Page up and down raise and lower it.
            </p>
            <Choice label="marker" value={marker} options={now.markers} />
            <div class="field">
                <label for="jogspeed">speed</label>
                <input
                    id="jogspeed"
                    type="range"
                    min={0.01}
                    max={1}
                    step={0.01}
                    value={share.value}
                    onInput={({ currentTarget }) => (share.value = Number(currentTarget.value))}
                />
                <span />
            </div>
            <div class="quiet numbers">{short(share.value * size)} m/s</div>
            <label class="row" title="Joints that cannot move the marker turn so that it keeps its axes">
                <input
                    type="checkbox"
                    checked={level.value}
                    onChange={({ currentTarget }) => (level.value = currentTarget.checked)}
                />
                keep it level
            </label>
            <div class="jogpad">
                <Button way="upper" sign="↑ up" />
                <Button way="farther" sign="↗ away" />
                <span />
                <Button way="left" sign="← left" />
                <span />
                <Button way="right" sign="→ right" />
                <Button way="lower" sign="↓ down" />
                <Button way="nearer" sign="↙ near" />
                <span />
            </div>
            {now.limits.length > 0 && (
                <p class="warn" role="status">
                    It cannot go on that way: {now.limits.join(", ")} {now.limits.length > 1 ? "are" : "is"} at a limit.
                </p>
            )}
            <button
                disabled={!now.jogged}
                title="Joints are free again, drives as they were"
                onClick={() => {
                    begun = false;
                    void order("jog", {});
                }}
            >
                Let go
            </button>
        </div>
    );
}
