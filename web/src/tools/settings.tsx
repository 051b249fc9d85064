// Small fields for the settings of tools.

import type { Signal } from "@preact/signals";
import { useId } from "preact/hooks";
import { exact } from "../words.ts";

export function NumberField({
    label,
    value,
    unit = "",
    least,
    hint,
}: {
    label: string;
    value: Signal<number>;
    unit?: string;
    least?: number;
    hint?: string;
}) {
    const id = useId();
    return (
        <div class="field" title={hint}>
            <label for={id}>{label}</label>
            <input
                id={id}
                inputMode="decimal"
                value={exact(value.value)}
                onChange={({ currentTarget }) => {
                    const found = Number(currentTarget.value.replace(",", "."));
                    const fits =
                        currentTarget.value.trim() !== "" &&
                        Number.isFinite(found) &&
                        (least === undefined || found >= least);
                    if (fits) value.value = found;
                    else currentTarget.value = exact(value.value);
                }}
            />
            <span class="unit">{unit}</span>
        </div>
    );
}

/** A number that may be left out. */
export function OptionalField({
    label,
    value,
    unit = "",
    hint,
}: {
    label: string;
    value: Signal<number | null>;
    unit?: string;
    hint?: string;
}) {
    const id = useId();
    return (
        <div class="field" title={hint}>
            <label for={id}>{label}</label>
            <input
                id={id}
                inputMode="decimal"
                placeholder="as now"
                value={value.value === null ? "" : exact(value.value)}
                onChange={({ currentTarget }) => {
                    const text = currentTarget.value.trim().replace(",", ".");
                    const found = Number(text);
                    value.value = text === "" || !Number.isFinite(found) ? null : found;
                }}
            />
            <span class="unit">{unit}</span>
        </div>
    );
}

export function TextField({ label, value, hint }: { label: string; value: Signal<string>; hint?: string }) {
    const id = useId();
    return (
        <div class="field" title={hint}>
            <label for={id}>{label}</label>
            <input
                id={id}
                value={value.value}
                placeholder={hint}
                onInput={({ currentTarget }) => (value.value = currentTarget.value)}
            />
            <span />
        </div>
    );
}

export function Choice({
    label,
    value,
    options,
    text = (one) => one,
}: {
    label: string;
    value: Signal<string>;
    options: readonly string[];
    text?: (one: string) => string;
}) {
    const id = useId();
    return (
        <div class="field">
            <label for={id}>{label}</label>
            <select id={id} value={value.value} onChange={({ currentTarget }) => (value.value = currentTarget.value)}>
                {options.map((one) => (
                    <option key={one} value={one}>
                        {text(one)}
                    </option>
                ))}
            </select>
            <span />
        </div>
    );
}

export function Flag({ label, value, hint }: { label: string; value: Signal<boolean>; hint?: string }) {
    return (
        <label class="row" title={hint}>
            <input
                type="checkbox"
                checked={value.value}
                onChange={({ currentTarget }) => (value.value = currentTarget.checked)}
            />
            {label}
        </label>
    );
}
