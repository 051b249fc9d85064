// Time: play, step, back to the start, the line of what was recorded, speed and method.

import { Icon } from "../icons.tsx";
import { order } from "../socket.ts";
import { adaptive, live, now, pulls, shown, state, tell } from "../state.ts";
import { round125 } from "../maths.ts";
import { short } from "../words.ts";
import { Method } from "./mechanism.tsx";

const SPEEDS: [number, string][] = [
    [0.01, "1/100×"],
    [0.02, "1/50×"],
    [0.05, "1/20×"],
    [0.1, "1/10×"],
    [0.25, "1/4×"],
    [0.5, "1/2×"],
    [1, "1×"],
    [2, "2×"],
    [5, "5×"],
    [10, "10×"],
];

export const playing = () => shown.value?.status === 1 || state.value?.status === "playing";

let plays: boolean | null = null; // what was asked for last and is on its way

/** Play where time stands or is about to, pause where it runs or is about to. */
export function playOrPause(): void {
    const runs = plays ?? now.frame?.status === 1;
    plays = !runs;
    void order(runs ? "pause" : "play", {}).then(() => {
        if (plays === !runs) plays = null; // the frame that shows it has come before the answer
    });
}

let waiting: number | null = null;
let busy = false;

/** Show a recorded time; while one is on its way, only the last one asked for follows. */
export async function rewind(time: number): Promise<void> {
    waiting = time;
    if (busy) return;
    busy = true;
    while (waiting !== null) {
        const next: number = waiting;
        waiting = null;
        await order("rewind", { time: next });
    }
    busy = false;
}

function Ticks({ first, last }: { first: number; last: number }) {
    const span = last - first;
    if (!(span > 0)) return <div class="ticks" />;
    const step = round125(span / (window.innerWidth > 1100 ? 7 : 4));
    const begin = Math.ceil(first / step - 1e-9);
    const count = Math.floor(last / step + 1e-9) - begin + 1;
    return (
        <div class="ticks">
            {Array.from({ length: Math.min(count, 12) }, (_, k) => {
                const time = (begin + k) * step;
                return (
                    <span key={k} style={{ left: `${(100 * (time - first)) / span}%` }}>
                        {short(time)}
                    </span>
                );
            })}
        </div>
    );
}

function stateText(): { text: string; title: string; kind: string } {
    const now = state.value;
    const frame = shown.value;
    const status = playing() ? "playing" : (now?.status ?? "paused");
    const factor =
        frame && Number.isFinite(frame.factor) ? `${short(Number(frame.factor.toPrecision(2)))}× real time` : "";
    const late = now?.late ? "slower than asked: steps take longer than they last" : "";
    const words = { playing: pulls.value ? "running" : "playing", paused: "paused", open: "open", failed: "stopped" }[
        status
    ];
    const title = [
        now?.formulation,
        now?.settings.method,
        factor,
        late,
        now?.preparing && `preparing ${now.preparing}`,
        now?.message,
    ]
        .filter(Boolean)
        .join(" · ");
    return { text: now?.preparing ? "preparing…" : words, title, kind: now?.late ? "warn" : status };
}

/** Put a popover above the button that opens it. */
function above(id: string) {
    return ({ currentTarget }: MouseEvent) => {
        const box = (currentTarget as HTMLElement).getBoundingClientRect();
        const menu = document.getElementById(id)!;
        menu.togglePopover();
        menu.style.top = `${Math.max(4, box.top - menu.offsetHeight - 6)}px`;
        menu.style.left = `${Math.max(4, Math.min(box.left, window.innerWidth - menu.offsetWidth - 8))}px`;
    };
}

export function Transport() {
    const frame = shown.value;
    const now = state.value;
    const first = frame?.first ?? 0;
    const last = Math.max(frame?.last ?? 0, first);
    const time = frame?.time ?? 0;
    const speed = frame?.speed ?? 1;
    const { text, title, kind } = stateText();
    const on = playing();
    const speeds = SPEEDS.some(([value]) => Math.abs(value - speed) < 1e-6)
        ? SPEEDS
        : [...SPEEDS, [speed, `${short(speed)}×`] as [number, string]];
    const speedNow = speeds.find(([value]) => Math.abs(value - speed) < 1e-6 * Math.max(value, 1))?.[0] ?? speed;
    return (
        <footer class="bar">
            <button
                class="flat"
                title="Back to the start (Home)"
                aria-label="Back to the start"
                onClick={() => void order("reset", {})}
            >
                <Icon name="back" />
            </button>
            <button
                class="flat"
                title={on ? "Pause (Space)" : "Play (Space)"}
                aria-label={on ? "Pause" : "Play"}
                aria-pressed={on}
                onClick={playOrPause}
            >
                <Icon name={on ? "pause" : "play"} />
            </button>
            <button
                class="flat"
                title="One step on (.)"
                aria-label="One step on"
                onClick={() => void order("step", {})}
            >
                <Icon name="step" />
            </button>
            <input
                class="clock numbers"
                aria-label="Time in seconds"
                title="Time. Type one to show it, as far as it was recorded."
                value={time.toFixed(last - first > 0.1 || last === first ? 3 : 6)}
                onChange={({ currentTarget }) => {
                    const wanted = Number(currentTarget.value.replace(",", "."));
                    if (Number.isFinite(wanted)) void rewind(wanted);
                    else tell("A time is a number of seconds.", true);
                }}
            />
            <span class="quiet">s</span>
            <div class="line">
                <input
                    type="range"
                    aria-label="Recorded time"
                    disabled={adaptive.value}
                    min={first}
                    max={last > first ? last : first + 1e-3}
                    step="any"
                    value={time}
                    onInput={({ currentTarget }) => void rewind(Number(currentTarget.value))}
                />
                <Ticks first={first} last={last} />
            </div>
            <select
                aria-label="Speed"
                title="Speed, times real time"
                value={String(speedNow)}
                onChange={({ currentTarget }) => void order("speed", { value: Number(currentTarget.value) })}
            >
                {speeds.map(([value, label]) => (
                    <option key={value} value={String(value)}>
                        {label}
                    </option>
                ))}
            </select>
            {live.value && now && (
                <>
                    <button
                        class="method"
                        title="Equations, integration and step"
                        aria-label="Method"
                        onClick={above("method")}
                    >
                        <Icon name="sliders" />
                        <span>
                            {now.formulation || now.settings.formulation} · {now.settings.method}
                        </span>
                    </button>
                    <div id="method" popover="auto" class="menu">
                        <Method />
                    </div>
                </>
            )}
            <span class={`state ${kind}`} title={title}>
                {text}
            </span>
        </footer>
    );
}
