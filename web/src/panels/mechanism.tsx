// The mechanism as a whole: gravity, inputs and parameters as sliders, how it is integrated.

import { signal } from "@preact/signals";
import { useId } from "preact/hooks";
import type { Slider, Vec3 } from "../protocol.ts";
import { order } from "../socket.ts";
import { live, scene, state, tell } from "../state.ts";
import { short } from "../words.ts";
import { NumberRow, VectorRow, typed } from "./values.tsx";

let waiting: (() => Promise<unknown>) | null = null;
let busy = false;

/** While a value is on its way, only the last one asked for follows. */
export async function soon(send: () => Promise<unknown>): Promise<void> {
    waiting = send;
    if (busy) return;
    busy = true;
    while (waiting) {
        const next: () => Promise<unknown> = waiting;
        waiting = null;
        await next();
    }
    busy = false;
}

function SliderRow({
    name,
    slider,
    command,
}: {
    name: string;
    slider: Slider;
    command: "set_input" | "set_parameter";
}) {
    const id = useId();
    const { value, unit } = slider;
    const low = Math.min(slider.low, value);
    const high = Math.max(slider.high, value);
    const set = (next: number) => void soon(() => order(command, { name, value: next }));
    return (
        <div class="slider">
            <label for={id}>
                {name} {unit && unit !== "1" && <small>[{unit}]</small>}
            </label>
            <input
                id={id}
                type="range"
                min={low}
                max={high}
                step="any"
                value={value}
                onInput={({ currentTarget }) => set(Number(currentTarget.value))}
            />
            <input
                aria-label={`${name}, number`}
                class="numbers"
                value={short(value)}
                onChange={({ currentTarget }) => {
                    const next = typed(currentTarget.value);
                    if (typeof next === "number") set(next);
                }}
            />
        </div>
    );
}

const newName = signal("");

/** Adds a parameter, which numbers of the description can use, or an input, which changes while it runs. */
function NewValue() {
    const add = (noun: "parameter" | "input") => {
        const name = newName.value.trim();
        if (!/^[A-Za-z_]\w*$/.test(name)) {
            tell("A name of a parameter has letters, digits and _, and begins with a letter.", true);
            return;
        }
        const done =
            noun === "parameter"
                ? order("add", { noun, name, fields: { value: 1 } })
                : order("execute", { line: `input ${name} 0` });
        void done.then((answer) => answer.ok && (newName.value = ""));
    };
    return (
        <details class="group">
            <summary>New parameter or input</summary>
            <p class="quiet">
                Fields of elements take formulas of parameters, such as 2*a. An input drives motors and forces while it
                runs.
            </p>
            <div class="row">
                <input
                    aria-label="Name of the new value"
                    placeholder="name"
                    value={newName.value}
                    onInput={({ currentTarget }) => (newName.value = currentTarget.value)}
                />
                <button onClick={() => add("parameter")}>Parameter</button>
                <button onClick={() => add("input")}>Input</button>
            </div>
        </details>
    );
}

export function Mechanism() {
    const now = state.value;
    const of = scene.value;
    if (!now || !of) return <div class="pane" />;
    const gravity = (of.document.gravity as Vec3 | undefined) ?? [0, 0, -9.81];
    const still = gravity.every((x) => x === 0);
    const inputs = Object.entries(now.inputs);
    const parameters = Object.entries(now.parameters);
    const bodies = of.carriers.length - 1;
    return (
        <div class="pane">
            <div class="heading">
                {live.value ? (
                    <input
                        key={now.name}
                        aria-label="Name of the mechanism"
                        defaultValue={now.name}
                        onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
                        onChange={({ currentTarget }) =>
                            void order("edit", { path: ["name"], value: currentTarget.value.trim() })
                        }
                    />
                ) : (
                    <b>{now.name}</b>
                )}
            </div>
            <p class="quiet">
                {bodies} {bodies === 1 ? "body" : "bodies"}, {of.joints.length}{" "}
                {of.joints.length === 1 ? "joint" : "joints"}
                {live.value ? "" : "; a recorded run"}
            </p>
            {live.value && (
                <>
                    {inputs.length > 0 && <h3>Inputs</h3>}
                    {inputs.map(([name, slider]) => (
                        <SliderRow key={name} name={name} slider={slider} command="set_input" />
                    ))}
                    {parameters.length > 0 && <h3>Parameters</h3>}
                    {parameters.map(([name, slider]) => (
                        <SliderRow key={name} name={name} slider={slider} command="set_parameter" />
                    ))}
                    <NewValue />
                    <h3>Gravity</h3>
                    <label class="row">
                        <input
                            type="checkbox"
                            checked={!still}
                            onChange={({ currentTarget }) => void order("gravity", { value: currentTarget.checked })}
                        />
                        Weight acts
                    </label>
                    {!still && (
                        <VectorRow
                            label="gravity"
                            value={gravity}
                            unit="m/s²"
                            set={(value) => order("gravity", { value: value.map(Number) as Vec3 })}
                        />
                    )}
                    <h3>Method</h3>
                    <Method />
                </>
            )}
        </div>
    );
}

/** Equations of motion, integration and step. */
export function Method() {
    const now = state.value;
    if (!now) return null;
    return (
        <>
            <Menu
                label="equations"
                value={now.settings.formulation}
                options={now.formulations}
                set={(formulation) => void order("switch", { formulation })}
            />
            <Menu
                label="integration"
                value={now.settings.method}
                options={now.methods}
                set={(method) => void order("switch", { method })}
            />
            {now.fixed.includes(now.settings.method) && (
                <NumberRow
                    label="step"
                    value={now.settings.step}
                    unit="s"
                    set={(step) => (typeof step === "number" ? order("switch", { step }) : undefined)}
                />
            )}
        </>
    );
}

function Menu({
    label,
    value,
    options,
    set,
}: {
    label: string;
    value: string;
    options: string[];
    set: (value: string) => void;
}) {
    const id = useId();
    return (
        <div class="field">
            <label for={id}>{label}</label>
            <select id={id} value={value} onChange={({ currentTarget }) => set(currentTarget.value)}>
                {(options.includes(value) ? options : [...options, value]).map((one) => (
                    <option key={one}>{one}</option>
                ))}
            </select>
            <span />
        </div>
    );
}
