// Dialogs: opening and saving files of the working folder, and the list of keys.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { documentIn, linkTo } from "../link.ts";
import { ask, order } from "../socket.ts";
import { live, scene, state, tell } from "../state.ts";
import { tools } from "../tools/tool.ts";
import { view } from "./view.tsx";

export const dialog = signal<"" | "open" | "save" | "help" | "link">("");

const listed = signal<string[]>([]);
const wanted = signal("");
const over = signal(false);

function Dialog({ title, children }: { title: string; children: preact.ComponentChildren }) {
    const ref = useRef<HTMLDialogElement>(null);
    useEffect(() => {
        ref.current!.showModal();
        ref.current!.scrollTop = 0;
    }, []);
    return (
        <dialog
            ref={ref}
            aria-label={title}
            onClose={() => (dialog.value = "")}
            onClick={(event) => event.target === ref.current && ref.current!.close()}
            onKeyDown={(event) => event.stopPropagation()}
        >
            <h2>{title}</h2>
            {children}
        </dialog>
    );
}

const withEnd = (name: string, end: string) => (/\.[A-Za-z0-9]+$/.test(name) ? name : `${name}${end}`);
const plain = (name: string) => name.replace(/[^A-Za-z0-9_. -]+/g, "_").trim() || "mechanism";

async function list(): Promise<void> {
    const { result } = await ask("files", {});
    listed.value = (result?.mechanisms as string[] | undefined) ?? [];
}

async function open(file: string): Promise<void> {
    dialog.value = "";
    const name = withEnd(file, ".yaml");
    const stage = view.value;
    if (stage) stage.anew = true;
    const { ok } = await order("open_file", { file: name });
    if (ok) tell(`${name} is open.`);
    else if (stage) stage.anew = false;
}

async function begin(): Promise<void> {
    dialog.value = "";
    if ((await order("execute", { line: "new" })).ok) tell("An empty bench; Undo brings back what there was.");
}

function Open() {
    useEffect(() => void list(), []);
    return (
        <Dialog title="Open a mechanism">
            <p class="quiet">
                Files of the working folder. It takes the place of what is shown; Undo brings that back.
            </p>
            <div class="files">
                {listed.value.map((name) => (
                    <button key={name} onClick={() => void open(name)}>
                        {name}
                    </button>
                ))}
                {listed.value.length === 0 && <p class="quiet pane">There is no file of a mechanism.</p>}
            </div>
            <form method="dialog" class="row" onSubmit={() => wanted.value.trim() && void open(wanted.value.trim())}>
                <input
                    aria-label="File"
                    placeholder="mechanism.yaml"
                    value={wanted.value}
                    onInput={({ currentTarget }) => (wanted.value = currentTarget.value)}
                />
                <button class="main">Open</button>
                <button type="button" onClick={() => void begin()}>
                    New, empty
                </button>
                <button type="button" onClick={() => (dialog.value = "")}>
                    Cancel
                </button>
            </form>
        </Dialog>
    );
}

async function save(what: "mechanism" | "run" | "page"): Promise<void> {
    const name = plain(wanted.value || state.value?.name || "mechanism").replace(/\.(yaml|json|h5|html)$/i, "");
    dialog.value = "";
    if (what === "mechanism")
        await order(
            "keep",
            { file: /\.json$/i.test(wanted.value) ? `${name}.json` : `${name}.yaml`, over: over.value },
            true,
        );
    else if (what === "run") await order("save_run", { file: `${name}.h5` }, true);
    else {
        tell("The page is being recorded…");
        await order("record", { file: `${name}.html` }, true);
    }
}

function Save() {
    if (!wanted.value) wanted.value = plain(state.value?.name ?? "mechanism");
    return (
        <Dialog title="Save">
            <p class="quiet">Into the working folder.</p>
            <div class="row">
                <label for="file">Name</label>
                <input
                    id="file"
                    value={wanted.value}
                    onInput={({ currentTarget }) => (wanted.value = currentTarget.value)}
                />
            </div>
            <label class="row">
                <input
                    type="checkbox"
                    checked={over.value}
                    onChange={({ currentTarget }) => (over.value = currentTarget.checked)}
                />
                Write over a mechanism of this name
            </label>
            <div class="end">
                <button onClick={() => (dialog.value = "")}>Cancel</button>
                <button title="A link that contains the mechanism" onClick={() => void copyLink()}>
                    Copy a link
                </button>
                <button title="A page that plays without a server" onClick={() => void save("page")}>
                    Record a page
                </button>
                <button title="All that was recorded, as HDF5" onClick={() => void save("run")}>
                    Save the run
                </button>
                <button class="main" onClick={() => void save("mechanism")}>
                    Save the mechanism
                </button>
            </div>
        </Dialog>
    );
}

const linked = signal<{ document: Record<string, unknown>; fault: string } | null>(null);

/** Offer to open what the address of this page brings, once it has one. */
export async function lookAtAddress(): Promise<void> {
    const fragment = location.hash;
    try {
        const document = await documentIn(fragment);
        if (!document) return;
        linked.value = { document, fault: "" };
    } catch (error) {
        linked.value = { document: {}, fault: (error as Error).message };
    }
    history.replaceState(null, "", location.pathname + location.search);
    dialog.value = "link";
}

async function copyLink(): Promise<void> {
    dialog.value = "";
    try {
        const link = await linkTo(scene.peek()!.document, `${location.origin}/`);
        await navigator.clipboard.writeText(link);
        tell("The link is in the clipboard: it opens this mechanism in a page at this address.");
    } catch (error) {
        tell(`There is no link to this mechanism: ${(error as Error).message}.`, true);
    }
}

const count = (table: unknown, noun: string) => {
    const number = typeof table === "object" && table !== null ? Object.keys(table).length : 0;
    return `${number} ${number === 1 ? noun : noun === "body" ? "bodies" : `${noun}s`}`;
};

function Link() {
    const { document, fault } = linked.value ?? { document: {}, fault: "it is gone" };
    const take = async () => {
        dialog.value = "";
        const stage = view.value;
        if (stage) stage.anew = true;
        const { ok } = await order("open_text", { text: JSON.stringify(document) });
        if (!ok && stage) stage.anew = false;
    };
    if (fault)
        return (
            <Dialog title="A mechanism from a link">
                <p>The link brings no mechanism: {fault}.</p>
                <div class="end">
                    <button class="main" onClick={() => (dialog.value = "")}>
                        Close
                    </button>
                </div>
            </Dialog>
        );
    return (
        <Dialog title="A mechanism from a link">
            <p>
                “{String(document.name ?? "mechanism").slice(0, 60)}”, {count(document.bodies, "body")},{" "}
                {count(document.joints, "joint")}. It takes the place of what is shown; Undo brings that back.
            </p>
            <div class="end">
                <button onClick={() => (dialog.value = "")}>Cancel</button>
                <button class="main" onClick={() => void take()}>
                    Open it
                </button>
            </div>
        </Dialog>
    );
}

const KEYS: [string, string][] = [
    ["Drag beside bodies", "turn the view"],
    ["Right drag, Shift drag", "shift the view"],
    ["Wheel", "zoom to what is under the pointer"],
    ["Drag a body", "pull it"],
    ["Drag a green point of the chosen body", "change its length"],
    ["Double click", "look at that point"],
    ["Shift click", "choose several"],
    ["Space", "play, pause"],
    [".  and  ,", "one step on, back"],
    ["Home", "back to the start"],
    ["F", "show everything"],
    ["0 1 2 3", "usual, front, right, top view"],
    ["Ctrl Z, Ctrl Y", "undo, redo"],
    ["Ctrl D", "copy"],
    ["Del", "delete"],
    ["Esc", "end the tool, choose nothing"],
    ["A, V", "forces in joints, velocities"],
    ["Game controller, space mouse", "shift and turn the view; with Jog open, move the marker"],
];

function Help() {
    return (
        <Dialog title="Keys and mouse">
            <table>
                {KEYS.map(([key, text]) => (
                    <tr key={key}>
                        <td>
                            <kbd>{key}</kbd>
                        </td>
                        <td>{text}</td>
                    </tr>
                ))}
                {tools
                    .filter((one) => one.key)
                    .map((one) => (
                        <tr key={one.id}>
                            <td>
                                <kbd>{one.key!.toUpperCase()}</kbd>
                            </td>
                            <td>{one.label}</td>
                        </tr>
                    ))}
            </table>
            <div class="end">
                <button class="main" onClick={() => (dialog.value = "")}>
                    Close
                </button>
            </div>
        </Dialog>
    );
}

let looked = false;

export function Dialogs() {
    useEffect(() => {
        if (looked || !live.value) return;
        looked = true;
        void lookAtAddress();
        window.addEventListener("hashchange", () => void lookAtAddress());
    }, [live.value]);
    if (dialog.value === "open") return <Open />;
    if (dialog.value === "save") return <Save />;
    if (dialog.value === "help") return <Help />;
    if (dialog.value === "link") return <Link />;
    return null;
}
