// Adaptive dynamics: what is left out now, and what may be; sliders, the measure, the method, the colours of clusters.

import { useEffect, useId, useRef } from "preact/hooks";
import { look, setLook } from "../look.ts";
import { order } from "../socket.ts";
import { shown, state } from "../state.ts";
import { colorOf, FREE } from "../tree.ts";
import type { Adaptivity } from "../protocol.ts";
import { short, withPrefix } from "../words.ts";
import { soon } from "./mechanism.tsx";
import { typed } from "./values.tsx";

const LEAST = -4; // decades of the limits of errors that the slider runs over
const MEASURES: Record<string, string> = {
    rms_relative: "part of the error with no joint free",
    rms: "root mean square, m/s²",
};

const errorText = (value: number, facts: Adaptivity): string =>
    facts.absolute ? withPrefix(value, "m/s²") : `${short(Number((100 * value).toPrecision(3)))} %`;

/** A field that follows a text, unless somebody types into it. */
function Typed({
    label,
    text,
    off,
    hint,
    take,
}: {
    label: string;
    text: string;
    off?: boolean;
    hint?: string;
    take: (text: string) => void;
}) {
    const box = useRef<HTMLInputElement>(null);
    useEffect(() => {
        if (box.current && document.activeElement !== box.current) box.current.value = text;
    }, [text]);
    return (
        <input
            ref={box}
            class="numbers"
            aria-label={label}
            disabled={off}
            placeholder={hint}
            defaultValue={text}
            onChange={({ currentTarget }) => take(currentTarget.value)}
        />
    );
}

/** What is done with a number that is typed, if it is one. */
const numbered = (set: (value: number) => void) => (text: string) => {
    const next = typed(text);
    if (typeof next === "number") set(next);
};

/** A slider over decades, with the number beside it. */
function Decades({
    label,
    value,
    low,
    high,
    off = false,
    set,
}: {
    label: string;
    value: number;
    low: number;
    high: number;
    off?: boolean;
    set: (value: number) => void;
}) {
    const id = useId();
    return (
        <div class="slider">
            <label for={id}>{label}</label>
            <input
                id={id}
                type="range"
                disabled={off}
                min={low}
                max={high}
                step="any"
                value={Math.log10(Math.max(value, 10 ** low))}
                onInput={({ currentTarget }) => set(10 ** Number(currentTarget.value))}
            />
            <Typed
                label={`${label}, number`}
                off={off}
                text={off ? "" : short(Number(value.toPrecision(3)))}
                take={numbered(set)}
            />
        </div>
    );
}

/** What is left out now. */
function Now({ facts }: { facts: Adaptivity }) {
    const part = facts.maxError > 0 ? Math.min(facts.error / facts.maxError, 1) : Number(facts.error > 0);
    const over = facts.error > facts.maxError;
    return (
        <>
            <table class="facts" aria-label="What is left out">
                <tbody>
                    <tr>
                        <th>Error of accelerations</th>
                        <td class={`numbers ${over ? "over" : ""}`}>
                            {errorText(facts.error, facts)} of {errorText(facts.maxError, facts)}
                        </td>
                    </tr>
                    <tr>
                        <th>Free joints</th>
                        <td class="numbers">
                            {facts.free} of {facts.maxJoints < 0 ? facts.joints : facts.maxJoints}
                        </td>
                    </tr>
                    <tr>
                        <th>Lost by locking</th>
                        <td class="numbers">{withPrefix(facts.lost, "J")}</td>
                    </tr>
                    <tr>
                        <th>Kinetic energy</th>
                        <td class="numbers">{withPrefix(facts.kinetic, "J")}</td>
                    </tr>
                </tbody>
            </table>
            <meter class={over ? "over" : ""} aria-label="Part of the limit of the error" value={part} />
            {facts.bounded && (
                <p class="warn" role="status">
                    The number of joints is what bounds: more would lower the error.
                </p>
            )}
        </>
    );
}

const swatch = (color: readonly number[]) => ({
    background: `rgb(${color.map((x) => Math.round(255 * x)).join(" ")})`,
});

export function Adaptive() {
    const facts = shown.value?.tree?.facts;
    const now = state.value;
    if (!facts || !now?.adaptive) return <div class="pane" />;
    const set = (given: Parameters<typeof order<"limit">>[1]) => void soon(() => order("limit", given));
    const many = Math.log10(Math.max(facts.joints, 10));
    const most = facts.maxJoints < 0 ? Math.max(facts.free, 1) : facts.maxJoints;
    const loss = facts.maxLoss < 0 ? "" : Number.isFinite(facts.maxLoss) ? short(facts.maxLoss) : "any";
    return (
        <div class="pane adaptive">
            <div class="heading">
                <b>Adaptive dynamics</b>
            </div>
            <Now facts={facts} />
            <Decades
                label={`Error limit${facts.absolute ? " [m/s²]" : ""}`}
                value={facts.maxError}
                low={LEAST}
                high={facts.absolute ? 2 : 0}
                set={(value) => set({ max_error: value })}
            />
            <Decades
                label="Most joints"
                value={most}
                low={0}
                high={many}
                off={facts.maxJoints < 0}
                set={(value) => set({ max_joints: Math.max(1, Math.round(value)) })}
            />
            <label class="check">
                <input
                    type="checkbox"
                    checked={facts.maxJoints < 0}
                    onChange={({ currentTarget }) => set({ max_joints: currentTarget.checked ? "none" : most })}
                />
                As many joints as the error takes
            </label>
            <label class="row">
                <span>Measure</span>
                <select
                    aria-label="Measure of the error"
                    value={facts.absolute ? "rms" : "rms_relative"}
                    onChange={({ currentTarget }) => set({ measure: currentTarget.value })}
                >
                    {now.adaptive.measures.map((name) => (
                        <option key={name} value={name}>
                            {MEASURES[name] ?? name}
                        </option>
                    ))}
                </select>
            </label>
            <label class="row">
                <span title="Kinetic energy that locking joints may take; empty: 1 % of it per second">
                    Most loss [W]
                </span>
                <Typed
                    label="Most loss, W"
                    hint="1 % per s"
                    text={loss}
                    take={(text) =>
                        text.trim() === "any"
                            ? set({ max_loss: "none" })
                            : numbered((value) => set({ max_loss: value }))(text)
                    }
                />
            </label>
            <label class="row">
                <span>Method</span>
                <select
                    aria-label="Method of integration"
                    value={now.settings.method}
                    onChange={({ currentTarget }) => void order("switch", { method: currentTarget.value })}
                >
                    {now.adaptive.methods.map((name) => (
                        <option key={name}>{name}</option>
                    ))}
                </select>
            </label>
            <label class="row">
                <span>Step [s]</span>
                <Typed
                    label="Step, s"
                    text={short(now.settings.step)}
                    take={numbered((value) => void order("switch", { step: value }))}
                />
            </label>
            <label class="check">
                <input
                    type="checkbox"
                    checked={look.value.clusters}
                    onChange={({ currentTarget }) => setLook({ clusters: currentTarget.checked })}
                />
                Colour what moves as one
            </label>
            {look.value.clusters && (
                <p class="quiet legend">
                    <i style={swatch(FREE)} /> behind a free joint
                    <i style={swatch(colorOf(1))} />
                    <i style={swatch(colorOf(2))} />
                    <i style={swatch(colorOf(3))} /> clusters
                    <i style={swatch(colorOf(-1))} /> stands on the ground
                </p>
            )}
        </div>
    );
}
