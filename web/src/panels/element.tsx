// The chosen element: its name, what can be done with it, its fields, and what it does now.

import { signal } from "@preact/signals";
import { Icon } from "../icons.tsx";
import type { IconName } from "../icons.tsx";
import { lengthOf } from "../dimensions.ts";
import { distance, scale } from "../maths.ts";
import type { Field, Vec3 } from "../protocol.ts";
import { order } from "../socket.ts";
import { choose, chosen, inspected, kinds, live, scene, selection, state } from "../state.ts";
import { isNailed } from "../tools/driving.tsx";
import { NumberField } from "../tools/settings.tsx";
import { addTrace, traces } from "../traces.ts";
import { kindText, nounOf, short } from "../words.ts";
import { plotElement } from "./plots.tsx";
import { declared, AnyRow, FieldRow, NumberRow, Values } from "./values.tsx";
import { following } from "../kept.ts";
import { view } from "./view.tsx";

const RARE: Record<string, string[]> = { bodies: ["check_inertia", "mass_known", "velocity", "angular_velocity"] };
const FIRST = new Set(["velocity", "position", "rest_length", "color", "value"]);
function Action({
    icon,
    label,
    press,
    on,
    disabled,
}: {
    icon: IconName;
    label: string;
    press: () => void;
    on?: boolean;
    disabled?: boolean;
}) {
    return (
        <button title={label} aria-label={label} aria-pressed={on} disabled={disabled} onClick={press}>
            <Icon name={icon} />
        </button>
    );
}

export function removeChosen(): void {
    const names = selection.value.map((one) => one.name);
    void (async () => {
        for (const name of names) if (!(await order("remove", { name })).ok) break;
        choose(null);
    })();
}

const bodiesOf = () => selection.value.filter((one) => one.table === "bodies").map((one) => one.name);

function offsetOf(): Vec3 {
    const stage = view.value;
    const of = scene.value;
    if (!stage || !of) return [0.1, 0, 0];
    const [right] = stage.camera.axes;
    const k = [0, 1, 2].reduce((best, n) => (Math.abs(right[n]) > Math.abs(right[best]) ? n : best), 0);
    const way: Vec3 = [0, 0, 0];
    way[k] = Math.sign(right[k]);
    return scale(way, 2 * stage.cell);
}

export async function copyChosen(): Promise<void> {
    const names = bodiesOf();
    if (!names.length) return;
    chooseAll((await order("copy", { names, offset: offsetOf() })).result?.names);
}

function chooseAll(names: unknown): void {
    if (Array.isArray(names) && names.length)
        selection.value = (names as string[])
            .filter((name) => scene.value?.carriers.includes(name))
            .map((name) => ({ table: "bodies", name }));
}

const way = signal("0.1 0 0");
const count = signal(3);
const angle = signal(0);
const mirrorAxis = signal(0);

const vectorOf = (text: string): Vec3 => {
    const parts = text
        .split(/[\s,;]+/)
        .filter(Boolean)
        .map(Number);
    return [0, 1, 2].map((k) => (Number.isFinite(parts[k]) ? parts[k] : 0)) as Vec3;
};

/** Copy, mirror and array of the chosen bodies, by numbers. */
function Multiply() {
    const names = bodiesOf();
    const stage = view.value;
    const box = () => {
        const of = scene.value!;
        const places = names.map((name) => stage!.poses.toWorld(stage!.poses.position(of.carriers.indexOf(name))));
        return scale(
            places.reduce((a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]] as Vec3, [0, 0, 0]),
            1 / places.length,
        );
    };
    const axis = (k: number): Vec3 => [0, 1, 2].map((n) => (n === k ? 1 : 0)) as Vec3;
    return (
        <details class="group">
            <summary>Copy, mirror, array</summary>
            <div class="field">
                <label for="way">offset x y z</label>
                <input id="way" value={way.value} onChange={({ currentTarget }) => (way.value = currentTarget.value)} />
                <span class="unit">m</span>
            </div>
            <div class="row">
                <button
                    onClick={() =>
                        void order("copy", { names, offset: vectorOf(way.value) }).then(({ result }) =>
                            chooseAll(result?.names),
                        )
                    }
                >
                    Copy
                </button>
                <button
                    onClick={() =>
                        void order("array", { names, count: Math.round(count.value), offset: vectorOf(way.value) })
                    }
                >
                    Row of {count.value}
                </button>
                <button
                    onClick={() =>
                        void order("array", {
                            names,
                            count: Math.round(count.value),
                            angle: (angle.value || 360 / count.value) * (Math.PI / 180),
                            axis: axis(mirrorAxis.value),
                            point: [0, 0, 0],
                        })
                    }
                >
                    Ring of {count.value}
                </button>
            </div>
            <NumberField label="how many" value={count} least={2} />
            <NumberField label="ring, angle between" value={angle} unit="°" hint="0 for a full turn" />
            <div class="field">
                <label for="across">axis or plane</label>
                <select
                    id="across"
                    value={mirrorAxis.value}
                    onChange={({ currentTarget }) => (mirrorAxis.value = Number(currentTarget.value))}
                >
                    <option value={0}>x</option>
                    <option value={1}>y</option>
                    <option value={2}>z</option>
                </select>
                <span />
            </div>
            <div class="row">
                <button
                    title="In the plane through the origin, across the axis"
                    onClick={() => void order("mirror", { names, normal: axis(mirrorAxis.value) })}
                >
                    Mirror at the origin
                </button>
                <button
                    title="In the plane through the middle of what is chosen"
                    onClick={() => void order("mirror", { names, normal: axis(mirrorAxis.value), point: box() })}
                >
                    … at itself
                </button>
            </div>
        </details>
    );
}

function Actions({ table, name }: { table: string; name: string }) {
    const body = table === "bodies";
    const pinned = state.value?.pins.includes(name) ?? false;
    const nailed = body && isNailed(name);
    const swept = traces.value.some((one) => one.body === name && one.envelope);
    return (
        <div class="actions">
            {body && live.value && (
                <>
                    <Action
                        icon="pin"
                        label={pinned ? "Let go of the pinned body" : "Pin: hold it where it is now"}
                        on={pinned}
                        press={() => void order(pinned ? "unpin" : "pin", { body: name })}
                    />
                    <Action
                        icon="nail"
                        label={nailed ? "Free: remove the nail" : "Nail: hold it as a part of the mechanism"}
                        on={nailed}
                        press={() => void order(nailed ? "free" : "nail", { body: name })}
                    />
                    <Action icon="copy" label="Copy (Ctrl+D)" press={() => void copyChosen()} />
                </>
            )}
            {body && (
                <Action
                    icon="envelope"
                    label={swept ? "End the envelope" : "Envelope: the space that it sweeps"}
                    on={swept}
                    press={() => addTrace(name, [0, 0, 0], true)}
                />
            )}
            {body && (
                <Action
                    icon="follow"
                    label="Let the camera follow it"
                    on={following.value === name}
                    press={() => (following.value = following.value === name ? "" : name)}
                />
            )}
            <Action icon="plot" label="Plot it" press={() => plotElement(table, name)} />
            {live.value && <Action icon="delete" label="Delete (Del)" press={removeChosen} />}
        </div>
    );
}

/** The motor of a joint: its rate, or one to be added. */
function Motor({ name }: { name: string }) {
    const drives = (scene.value?.document.drives ?? {}) as Record<string, Record<string, unknown>>;
    const drive = drives[`motor of ${name}`];
    const driven = scene.value?.joints.find((joint) => joint.name === name)?.driven;
    const rate = drive?.velocity;
    if (driven && !drive) return <p class="quiet">A drive moves this joint.</p>;
    return (
        <NumberRow
            label="motor rate"
            value={rate}
            unit="/s"
            placeholder="no motor"
            set={(value) => {
                const motor = `motor of ${name}`;
                if (typeof value === "number") return order("motor", { joint: name, velocity: value });
                if (!drive) return undefined;
                return value === null
                    ? order("remove", { name: motor })
                    : order("edit", { path: ["drives", motor, "velocity"], value });
            }}
        />
    );
}

function Length({ name }: { name: string }) {
    const found = scene.value && lengthOf(scene.value, name);
    if (!found) return null;
    const { from, to } = found;
    return (
        <NumberRow
            label="length between ends"
            value={distance(from.point, to.point)}
            unit="m"
            set={(value) =>
                typeof value === "number" && value > 0
                    ? order("length", { body: name, first: from.point, second: to.point, value })
                    : undefined
            }
        />
    );
}

function Fields({ table, name }: { table: string; name: string }) {
    const value = (scene.value?.document[table] as Record<string, unknown> | undefined)?.[name];
    if (value === undefined) return <p class="quiet">It is not in the description.</p>;
    if (value === null || typeof value !== "object" || Array.isArray(value))
        return <AnyRow name="value" value={value} path={[table, name]} />;
    const given = value as Record<string, unknown>;
    const kind = typeof given.type === "string" ? given.type : "";
    const fields = declared(nounOf(table), kind);
    // Fields that are left out and follow from others stand below, but for what one looks for first.
    const isRare = ({ name: one, required, usual }: Field) =>
        RARE[table]?.includes(one) ||
        (!(one in given) && !required && usual === null && !FIRST.has(one) && table !== "bodies");
    const usual = fields.filter((field) => !isRare(field) && field.name !== "shapes");
    const rare = fields.filter(isRare);
    const others = Object.entries(given).filter(
        ([key]) => key !== "type" && !fields.some((field) => field.name === key && key !== "shapes"),
    );
    return (
        <>
            {others
                .filter(([key]) => key !== "shapes")
                .map(([key, one]) => (
                    <AnyRow key={key} name={key} value={one} path={[table, name, key]} />
                ))}
            {usual.map((field) => (
                <FieldRow key={field.name} field={field} value={given[field.name]} path={[table, name, field.name]} />
            ))}
            {"shapes" in given && <AnyRow name="shapes" value={given.shapes} path={[table, name, "shapes"]} />}
            {rare.length > 0 && (
                <details class="group">
                    <summary>more</summary>
                    {rare.map((field) => (
                        <FieldRow
                            key={field.name}
                            field={field}
                            value={given[field.name]}
                            path={[table, name, field.name]}
                        />
                    ))}
                </details>
            )}
        </>
    );
}

const numberText = (value: number | null): string => (value === null ? "–" : short(value));

function Now({ name }: { name: string }) {
    const found = inspected.value;
    if (!found || found.name !== name) return null;
    return (
        <details class="group" open>
            <summary>now</summary>
            <table class="now">
                {found.rows.map(([label, value, unit]) => (
                    <tr key={label}>
                        <td>{label}</td>
                        <td>
                            {typeof value === "string" ? value : [value].flat().map(numberText).join(", ")}
                            {unit && unit !== "1" ? ` ${unit}` : ""}
                        </td>
                    </tr>
                ))}
            </table>
        </details>
    );
}

export function Element() {
    const one = chosen.value;
    void kinds.value;
    if (!one) {
        return (
            <div class="pane">
                <p class="quiet">
                    {live.value
                        ? "Click a body or a joint to see and change it. Drag a body to pull it. Drag beside it to turn the view."
                        : "Click a body or a joint to see what it does. Drag to turn the view."}
                </p>
            </div>
        );
    }
    const { table, name } = one;
    const entry = (scene.value?.document[table] as Record<string, { type?: string }> | undefined)?.[name];
    const many = selection.value.length;
    return (
        <div class="pane">
            <div class="heading">
                <i>{many > 1 ? `${many} chosen, last` : kindText(String(entry?.type ?? nounOf(table)))}</i>
                <input
                    key={name}
                    aria-label="Name"
                    defaultValue={name}
                    disabled={!live.value || !entry}
                    onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
                    onChange={({ currentTarget }) => {
                        const to = currentTarget.value.trim();
                        if (!to || to === name) return;
                        void order("rename", { table, name, to }).then((answer) => {
                            if (answer.ok) choose({ table, name: to });
                            else currentTarget.value = name;
                        });
                    }}
                />
            </div>
            <Actions table={table} name={name} />
            {live.value && table === "bodies" && <Length name={name} />}
            {live.value && table === "joints" && <Motor name={name} />}
            {live.value ? (
                <Fields key={`${table} ${name}`} table={table} name={name} />
            ) : (
                entry && <Frozen value={entry} />
            )}
            {live.value && table === "bodies" && <Multiply />}
            <Now name={name} />
        </div>
    );
}

/** Fields that cannot be changed, of a recorded run. */
function Frozen({ value }: { value: object }) {
    return (
        <fieldset disabled class="group">
            <Values label="description" value={value} path={[]} />
        </fieldset>
    );
}
