// Fields for the values of descriptions: numbers with units, vectors, angles, colours, choices, texts, groups of these.

import { useId } from "preact/hooks";
import { rotate } from "../maths.ts";
import type { Answer, Field, Quat, Vec3 } from "../protocol.ts";
import { order } from "../socket.ts";
import { kinds, scene } from "../state.ts";
import { anglesOf, quatOf } from "./angles.ts";
import { exact, kindText, spoken } from "../words.ts";

export type Path = (string | number)[];

/** What a field does with what was typed: the answer of a command, or undefined for what it does not take. */
export type Done = Promise<Answer> | undefined;

const edit = (path: Path, value: unknown): Done => order("edit", { path, value });

/** What was typed: a number, or a text with a unit or parameters. null where it is empty. */
export function typed(text: string): number | string | null {
    const bare = text.trim();
    if (bare === "") return null;
    const number = Number(bare.replace(/^([+-]?\d+),(\d+)$/, "$1.$2"));
    return Number.isFinite(number) ? number : bare;
}

const textOf = (value: unknown): string =>
    typeof value === "number" ? exact(value) : value === null || value === undefined ? "" : String(value);

type Cell = {
    value: unknown;
    label: string;
    set: (value: number | string | null) => Done;
    placeholder?: string;
    id?: string;
    disabled?: boolean;
};

function NumberCell({ value, label, set, placeholder, id, disabled }: Cell) {
    const text = textOf(value);
    return (
        <input
            id={id}
            key={text}
            aria-label={label}
            title={`${label}${typeof value === "number" ? `: ${value}` : ""}`}
            defaultValue={text}
            placeholder={placeholder}
            disabled={disabled}
            onKeyDown={(event) => {
                if (event.key === "Enter") event.currentTarget.blur();
                if (event.key === "Escape") {
                    event.currentTarget.value = text;
                    event.currentTarget.blur();
                }
            }}
            onChange={({ currentTarget }) => {
                const back = () => void (currentTarget.value = text);
                const done = set(typed(currentTarget.value));
                if (done) void done.then(({ ok }) => ok || back());
                else back();
            }}
        />
    );
}

export function NumberRow({
    label,
    value,
    unit,
    set,
    placeholder,
}: {
    label: string;
    value: unknown;
    unit: string;
    set: (value: number | string | null) => Done;
    placeholder?: string;
}) {
    const id = useId();
    return (
        <div class="field">
            <label for={id}>{label}</label>
            <NumberCell id={id} value={value} label={label} set={set} placeholder={placeholder} />
            <span class="unit">{unit}</span>
        </div>
    );
}

const LETTERS = ["x", "y", "z", "w"];

/** Components as they are shown: what is left of rounding beside the others is 0. */
function clean(value: readonly unknown[]): unknown[] {
    const most = value.reduce<number>(
        (size, one) => (typeof one === "number" ? Math.max(size, Math.abs(one)) : size),
        0,
    );
    return value.map((one) => (typeof one === "number" && Math.abs(one) < 1e-12 * Math.max(most, 1e-3) ? 0 : one));
}

export function VectorRow({
    label,
    value,
    unit,
    set,
}: {
    label: string;
    value: readonly unknown[];
    unit: string;
    set: (value: unknown[]) => Done;
}) {
    return (
        <div class="field wide">
            <span class="label">{label}</span>
            <span class="vector">
                {clean(value).map((one, k) => (
                    <NumberCell
                        key={k}
                        value={one}
                        label={`${label} ${value.length <= 3 ? LETTERS[k] : k + 1}`}
                        set={(next) => set(value.map((old, n) => (n === k ? (next ?? 0) : old)))}
                    />
                ))}
            </span>
            <span class="unit">{unit}</span>
        </div>
    );
}

function AnglesRow({ label, value, set }: { label: string; value: Quat; set: (value: Quat) => Done }) {
    const angles = anglesOf(value).map((angle) => Number(angle.toFixed(6)) + 0) as Vec3;
    return (
        <div class="field wide" title="Angles about x, then y, then z of the turned axes">
            <span class="label">{label}</span>
            <span class="vector">
                {angles.map((angle, k) => (
                    <NumberCell
                        key={k}
                        value={angle}
                        label={`${label} about ${LETTERS[k]}`}
                        set={(next) => {
                            if (typeof next !== "number") return undefined;
                            return set(quatOf(angles.map((old, n) => (n === k ? next : old)) as Vec3));
                        }}
                    />
                ))}
            </span>
            <span class="unit">°</span>
        </div>
    );
}

const isNumbers = (value: unknown): value is number[] =>
    Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "number");

function ColorRow({ label, value, path }: { label: string; value: unknown; path: Path }) {
    const id = useId();
    const numbers = isNumbers(value) ? value : null;
    const shown = numbers ?? ownColor(path);
    const hex = `#${shown
        .slice(0, 3)
        .map((x) =>
            Math.round(255 * Math.max(0, Math.min(1, x)))
                .toString(16)
                .padStart(2, "0"),
        )
        .join("")}`;
    return (
        <div class="field">
            <label for={id}>{label}</label>
            <span class="row">
                <input
                    id={id}
                    type="color"
                    value={hex}
                    onChange={({ currentTarget }) => {
                        const parts = [1, 3, 5].map((k) =>
                            Number((parseInt(currentTarget.value.slice(k, k + 2), 16) / 255).toFixed(4)),
                        );
                        edit(path, numbers?.length === 4 ? [...parts, numbers[3]] : parts);
                    }}
                />
                {numbers && <button onClick={() => edit(path, null)}>Usual</button>}
            </span>
            <span />
        </div>
    );
}

/** The colour in which a shape is drawn where none is given. */
function ownColor(path: Path): number[] {
    const piece = scene.value?.pieces.find(
        (one) => one.table === path[0] && one.element === path[1] && one.role === "shape",
    );
    return piece ? [...piece.color] : [0.6, 0.6, 0.6];
}

/** Ends of elements that are given by name: bodies and markers. */
function EndChoice({ label, value, path }: { label: string; value: string; path: Path }) {
    const id = useId();
    const document = scene.value?.document ?? {};
    const isJoint = value in ((document.joints as object | undefined) ?? {});
    const names = isJoint
        ? Object.keys(document.joints as object)
        : [
              "ground",
              ...Object.keys((document.bodies as object | undefined) ?? {}),
              ...Object.keys((document.markers as object | undefined) ?? {}),
          ];
    const options = names.includes(value) ? names : [value, ...names];
    return (
        <div class="field">
            <label for={id}>{label}</label>
            <select id={id} value={value} onChange={({ currentTarget }) => edit(path, currentTarget.value)}>
                {options.map((one) => (
                    <option key={one}>{one}</option>
                ))}
            </select>
            <span />
        </div>
    );
}

function BodyChoice({ value, path }: { value: Place; path: Path }) {
    const id = useId();
    const bodies = ["ground", ...Object.keys((scene.value?.document.bodies as object | undefined) ?? {})];
    return (
        <div class="field">
            <label for={id}>body</label>
            <select
                id={id}
                value={value.body}
                onChange={({ currentTarget }) => edit(path, { ...value, body: currentTarget.value })}
            >
                {bodies.map((one) => (
                    <option key={one}>{one}</option>
                ))}
            </select>
            <span />
        </div>
    );
}

type Place = { body: string; position?: unknown[]; axis?: unknown[]; rotation?: unknown };

const isBody = (name: string): boolean =>
    name === "ground" || name in ((scene.value?.document.bodies as object | undefined) ?? {});

const isPlace = (value: unknown): value is Place =>
    typeof value === "object" && value !== null && "body" in value && typeof value.body === "string";

/** An end of an element: a body, the place on it, and the axis there. */
function PlaceRows({ label, value, path }: { label: string; value: Place; path: Path }) {
    const turned =
        isNumbers(value.rotation) && value.rotation.length === 4
            ? (rotate(value.rotation as unknown as Quat, [0, 0, 1]).map((x) => Number(x.toFixed(9)) + 0) as Vec3)
            : null;
    const axis = value.axis ?? turned ?? (value.rotation === undefined ? [0, 0, 1] : null);
    const { rotation: _, ...rest } = value;
    return (
        <details class="group" open>
            <summary>{label}</summary>
            <BodyChoice value={value} path={path} />
            <VectorRow
                label="position"
                value={value.position ?? [0, 0, 0]}
                unit="m"
                set={(next) => edit(path, { ...value, position: next })}
            />
            {axis && (
                <VectorRow label="axis" value={axis} unit="" set={(next) => edit(path, { ...rest, axis: next })} />
            )}
            {!axis && <AnyRow name="rotation" value={value.rotation} path={[...path, "rotation"]} />}
        </details>
    );
}

function TextRow({ label, value, path, unit = "" }: { label: string; value: unknown; path: Path; unit?: string }) {
    return <NumberRow label={label} value={value} unit={unit} set={(next) => edit(path, next)} />;
}

function Flag({ label, value, path }: { label: string; value: boolean; path: Path }) {
    const id = useId();
    return (
        <div class="field">
            <label for={id}>{label}</label>
            <input
                id={id}
                type="checkbox"
                checked={value}
                onChange={({ currentTarget }) => edit(path, currentTarget.checked)}
            />
            <span />
        </div>
    );
}

function ChoiceRow({ label, value, options, path }: { label: string; value: string; options: string[]; path: Path }) {
    const id = useId();
    return (
        <div class="field">
            <label for={id}>{label}</label>
            <select id={id} value={value} onChange={({ currentTarget }) => edit(path, currentTarget.value)}>
                {(options.includes(value) ? options : [value, ...options]).map((one) => (
                    <option key={one}>{one}</option>
                ))}
            </select>
            <span />
        </div>
    );
}

/** One declared field of an element. value: as it is written, undefined where it is left out. */
export function FieldRow({ field, value, path }: { field: Field; value: unknown; path: Path }) {
    const label = spoken(field.name);
    const unit = field.units[0] === "1" ? "" : (field.units[0] ?? "").replace("^2", "²").replace("^3", "³");
    const now = value ?? field.usual;
    if (field.name === "color") return <ColorRow label="colour" value={value} path={path} />;
    if (field.name === "rotation" && isNumbers(now) && now.length === 4) {
        return <AnglesRow label="rotation" value={now as unknown as Quat} set={(next) => edit(path, next)} />;
    }
    if (field.type === "flag" || typeof now === "boolean")
        return <Flag label={label} value={Boolean(now)} path={path} />;
    if (field.type === "choice" && field.choices)
        return <ChoiceRow label={label} value={String(now ?? "")} options={field.choices} path={path} />;
    if (Array.isArray(now) && now.every((one) => typeof one !== "object")) {
        return <VectorRow label={label} value={now} unit={unit} set={(next) => edit(path, next)} />;
    }
    if (now !== null && typeof now === "object") return <Values label={label} value={now} path={path} open={false} />;
    if (field.type === "number" || field.type === "text" || field.type === "function" || field.type === "other") {
        return (
            <NumberRow
                label={label}
                value={now}
                unit={unit}
                placeholder={value === undefined && now === null ? "follows" : undefined}
                set={(next) => edit(path, next)}
            />
        );
    }
    return null;
}

const NOUNS: Record<string, string> = { shapes: "shape" };

/** The declared fields of a value at a path, where there are any. noun: under which kinds are listed. */
export const declared = (noun: string, kind: string): Field[] => kinds.value[noun]?.[kind] ?? [];

/** All of a value without declared fields, or a group of it. */
export function Values({
    label,
    value,
    path,
    open = true,
    noun = "",
}: {
    label: string;
    value: object;
    path: Path;
    open?: boolean;
    noun?: string;
}) {
    const kind = "type" in value && typeof value.type === "string" ? value.type : "";
    const fields = noun && kind ? declared(noun, kind) : [];
    const rows = Array.isArray(value)
        ? value.map((one, k): [string | number, unknown] => [k, one])
        : Object.entries(value).filter(([name]) => name !== "type");
    const others = rows.filter(([name]) => !fields.some((field) => field.name === name));
    return (
        <details class="group" open={open}>
            <summary>
                {label} <small>{kindText(kind)}</small>
            </summary>
            {fields
                .filter(({ name }) => !["touches", "shown", "density"].includes(name) || name in value)
                .map((field) => (
                    <FieldRow
                        key={field.name}
                        field={field}
                        value={(value as Record<string, unknown>)[field.name]}
                        path={[...path, field.name]}
                    />
                ))}
            {others.map(([name, one]) => (
                <AnyRow
                    key={name}
                    name={typeof name === "number" ? String(name + 1) : name}
                    value={one}
                    path={[...path, name]}
                />
            ))}
        </details>
    );
}

/** A value of which nothing is declared. */
export function AnyRow({ name, value, path }: { name: string; value: unknown; path: Path }) {
    const label = spoken(name);
    if (name === "color") return <ColorRow label="colour" value={value} path={path} />;
    if (name === "rotation" && isNumbers(value) && value.length === 4)
        return <AnglesRow label={label} value={value as unknown as Quat} set={(next) => edit(path, next)} />;
    if (typeof value === "boolean") return <Flag label={label} value={value} path={path} />;
    if (
        Array.isArray(value) &&
        value.length > 0 &&
        value.length <= 6 &&
        value.every((one) => typeof one !== "object")
    ) {
        if (value.some((one) => typeof one === "string" && Number.isNaN(Number(one))) && name === "ends") {
            return (
                <>
                    {value.map((one, k) => (
                        <EndChoice key={k} label={`end ${k + 1}`} value={String(one)} path={[...path, k]} />
                    ))}
                </>
            );
        }
        return (
            <VectorRow
                label={label}
                value={value}
                unit={name === "position" ? "m" : ""}
                set={(next) => edit(path, next)}
            />
        );
    }
    if (Array.isArray(value)) {
        return (
            <>
                {value.map((one, k) =>
                    isPlace(one) ? (
                        <PlaceRows key={k} label={`end ${k + 1}`} value={one} path={[...path, k]} />
                    ) : typeof one === "object" && one !== null ? (
                        <Values
                            key={k}
                            label={value.length > 1 ? `${label} ${k + 1}` : label}
                            value={one}
                            path={[...path, k]}
                            noun={NOUNS[name]}
                        />
                    ) : (
                        <AnyRow key={k} name={`${name} ${k + 1}`} value={one} path={[...path, k]} />
                    ),
                )}
            </>
        );
    }
    if (isPlace(value)) return <PlaceRows label={label} value={value} path={path} />;
    if (value !== null && typeof value === "object") return <Values label={label} value={value} path={path} open />;
    if (typeof value === "string" && ["first", "second"].includes(name) && isBody(value))
        return <PlaceRows label={label} value={{ body: value }} path={path} />;
    if (typeof value === "string" && ["first", "second", "body", "joint", "marker"].includes(name))
        return <EndChoice label={label} value={value} path={path} />;
    return <TextRow label={label} value={value} path={path} />;
}
