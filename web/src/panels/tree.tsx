// All elements of the mechanism, by kind, with a search.

import { signal } from "@preact/signals";
import { choose, hovered, scene, selection } from "../state.ts";
import { Finder } from "./finder.tsx";

const TABLES: [string, string][] = [
    ["bodies", "bodies"],
    ["beams", "beams"],
    ["joints", "joints"],
    ["constraints", "couplings"],
    ["forces", "forces"],
    ["drives", "drives"],
    ["sensors", "sensors"],
    ["changes", "changes"],
    ["parameters", "parameters"],
    ["inputs", "inputs"],
    ["markers", "markers"],
];
const MOST = 400; // entries of a table that are listed

const wanted = signal("");

type Entry = { name: string; kind: string };

export function entriesOf(document: Record<string, unknown>, table: string): Entry[] {
    const found = document[table];
    if (!found || typeof found !== "object") return [];
    return Object.entries(found as Record<string, unknown>).map(([name, value]) => ({
        name,
        kind: value && typeof value === "object" && "type" in value ? String(value.type) : "",
    }));
}

function Table({ table, title, entries, open }: { table: string; title: string; entries: Entry[]; open: boolean }) {
    const is = (name: string) => selection.value.some((one) => one.table === table && one.name === name);
    return (
        <details open={open}>
            <summary>
                {title} <small>{entries.length}</small>
            </summary>
            <ul role="listbox" aria-label={title}>
                {entries.slice(0, MOST).map(({ name, kind }) => (
                    <li key={name}>
                        <button
                            role="option"
                            aria-selected={is(name)}
                            title={kind ? `${name}: ${kind}` : name}
                            onClick={(event) =>
                                choose({ table, name }, event.shiftKey || event.ctrlKey || event.metaKey)
                            }
                            onPointerEnter={() => (hovered.value = { table, name })}
                            onPointerLeave={() => (hovered.value = null)}
                        >
                            <span>{name}</span>
                            <span class="kind">{kind}</span>
                        </button>
                    </li>
                ))}
                {entries.length > MOST && <li class="quiet">… {entries.length - MOST} more: search for them</li>}
            </ul>
        </details>
    );
}

export function Tree() {
    const of = scene.value;
    const text = wanted.value.trim().toLowerCase();
    const tables = TABLES.map(([table, title]) => {
        const entries = of ? entriesOf(of.document, table) : [];
        const found = text
            ? entries.filter(({ name, kind }) => `${name} ${kind}`.toLowerCase().includes(text))
            : entries;
        return { table, title, entries: found };
    }).filter(({ entries }) => entries.length > 0);
    return (
        <div class="tree">
            <Finder of="Find an element" value={wanted} />
            {tables.map((one) => (
                <Table
                    key={one.table}
                    {...one}
                    open={text !== "" || (one.table !== "markers" && one.entries.length <= 60)}
                />
            ))}
            {tables.length === 0 && (
                <p class="quiet pane">
                    {text
                        ? "Nothing has this name."
                        : "There is no element yet. Take a tool at the left and click in the picture."}
                </p>
            )}
        </div>
    );
}
