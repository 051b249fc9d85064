// The bar at the top: files, undo, what is shown, views, panels.

import { Icon } from "../icons.tsx";
import type { IconName } from "../icons.tsx";
import { look, setLook } from "../look.ts";
import type { Look } from "../look.ts";
import { order } from "../socket.ts";
import { chosen, connected, live, recorded, scene, state } from "../state.ts";
import { following } from "../kept.ts";
import { view } from "./view.tsx";
import { dialog } from "./files.tsx";

export function Push({
    icon,
    label,
    on,
    press,
    disabled,
    text,
}: {
    icon?: IconName;
    text?: string;
    label: string;
    on?: boolean;
    press: () => void;
    disabled?: boolean;
}) {
    return (
        <button
            class={text ? "flat letter" : "flat"}
            title={label}
            aria-label={label}
            aria-pressed={on}
            disabled={disabled}
            onClick={press}
        >
            {icon ? <Icon name={icon} /> : text}
        </button>
    );
}

export const switchLook = (name: keyof Look) => () => setLook({ [name]: !look.value[name] } as Partial<Look>);

const SHOW: [keyof Look, string, string?][] = [
    ["bodyNames", "Names of bodies"],
    ["jointNames", "Names of joints"],
    ["points", "Points of bodies"],
    ["dimensions", "Lengths of bodies"],
    ["reactions", "Forces in joints", "a"],
    ["forces", "Forces of springs and motors"],
    ["moments", "Moments too"],
    ["contacts", "Contacts"],
    ["velocities", "Velocities", "v"],
    ["accelerations", "Accelerations"],
    ["centres", "Instant centres"],
    ["loads", "Section loads of the chosen body"],
    ["floor", "Floor"],
    ["shadows", "Shadows"],
];

function ShowMenu() {
    return (
        <div id="show" popover="auto" class="menu">
            <div class="columns">
                {SHOW.map(([name, text, key]) => (
                    <label key={name}>
                        <input type="checkbox" checked={look.value[name] as boolean} onChange={switchLook(name)} />
                        <span>{text}</span>
                        {key && <kbd aria-hidden="true">{key.toUpperCase()}</kbd>}
                    </label>
                ))}
            </div>
            {!recorded.value && (scene.value?.sweeps.length ?? 0) > 0 && (
                <div class="row">
                    <label for="beams">Beams</label>
                    <select
                        id="beams"
                        value={look.value.beams}
                        onChange={({ currentTarget }) => setLook({ beams: currentTarget.value })}
                    >
                        <option value="">in their colour</option>
                        {scene.value?.quantities.map(([name, label]) => (
                            <option key={name} value={name}>
                                by {label}
                            </option>
                        ))}
                    </select>
                </div>
            )}
            <div class="row">
                <label for="theme">Colours</label>
                <select
                    id="theme"
                    value={look.value.theme}
                    onChange={({ currentTarget }) => setLook({ theme: currentTarget.value as Look["theme"] })}
                >
                    <option value="auto">as the system</option>
                    <option value="light">light</option>
                    <option value="dark">dark</option>
                </select>
            </div>
            <div class="row">
                <label for="grid">Grid</label>
                <select
                    id="grid"
                    value={String(look.value.grid)}
                    onChange={({ currentTarget }) => setLook({ grid: Number(currentTarget.value) })}
                >
                    {GRIDS.map((size) => (
                        <option key={size} value={String(size)}>
                            {size === 0 ? "as suits the size" : size < 1 ? `${1000 * size} mm` : `${size} m`}
                        </option>
                    ))}
                </select>
            </div>
        </div>
    );
}

const GRIDS = [0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];

const VIEWS: [string, string, string?][] = [
    ["start", "Usual view", "0"],
    ["front", "From the front", "1"],
    ["right", "From the right", "2"],
    ["top", "From above", "3"],
    ["back", "From behind"],
    ["left", "From the left"],
    ["bottom", "From below"],
    ["oblique", "Oblique"],
];

const closePopovers = () => document.querySelectorAll<HTMLElement>(":popover-open").forEach((one) => one.hidePopover());

function ViewMenu() {
    return (
        <div id="views" popover="auto" class="menu">
            {VIEWS.map(([name, text, key]) => (
                <div class="row" key={name}>
                    <button
                        class="flat"
                        onClick={() => {
                            view.value?.lookFrom(name);
                            closePopovers();
                        }}
                    >
                        {text}
                    </button>
                    {key && <kbd>{key}</kbd>}
                </div>
            ))}
        </div>
    );
}

/** Put a popover below the button that opens it. */
function below(id: string) {
    return (event: MouseEvent) => {
        const button = event.currentTarget as HTMLElement;
        const box = button.getBoundingClientRect();
        const menu = document.getElementById(id)!;
        menu.togglePopover();
        menu.style.top = `${box.bottom + 4}px`;
        menu.style.left = `${Math.max(4, Math.min(box.left, window.innerWidth - menu.offsetWidth - 8))}px`;
    };
}

export function Top() {
    const now = state.value;
    const builds = live.value;
    return (
        <header class="top">
            <span class="brand">bellcrank</span>
            <span class="title">{now?.name ?? scene.value?.name}</span>
            {builds && (
                <>
                    <Push icon="open" label="Open a mechanism (Ctrl+O)" press={() => (dialog.value = "open")} />
                    <Push icon="save" label="Save (Ctrl+S)" press={() => (dialog.value = "save")} />
                    <span class="sep" />
                    <Push
                        icon="undo"
                        label="Undo (Ctrl+Z)"
                        disabled={!now?.undo}
                        press={() => void order("undo", {})}
                    />
                    <Push
                        icon="redo"
                        label="Redo (Ctrl+Y)"
                        disabled={!now?.redo}
                        press={() => void order("redo", {})}
                    />
                    <Push
                        icon="assemble"
                        label="Assemble: bring the bodies together"
                        press={() => void order("assemble", {}, true)}
                    />
                    <span class="sep" />
                    <Push icon="magnet" label="Snap to the grid" on={look.value.snap} press={switchLook("snap")} />
                </>
            )}
            <Push icon="arrow" label="Forces in joints (A)" on={look.value.reactions} press={switchLook("reactions")} />
            <Push icon="names" label="Names of bodies" on={look.value.bodyNames} press={switchLook("bodyNames")} />
            <button class="flat" title="What is shown" aria-label="What is shown" onClick={below("show")}>
                <Icon name="show" />
            </button>
            <ShowMenu />
            <span class="space" />
            <Push text="F" label="View from the front (1)" press={() => view.value?.lookFrom("front")} />
            <Push text="R" label="View from the right (2)" press={() => view.value?.lookFrom("right")} />
            <Push text="T" label="View from above (3)" press={() => view.value?.lookFrom("top")} />
            <button class="flat" title="More views" aria-label="More views" onClick={below("views")}>
                <Icon name="view" />
            </button>
            <ViewMenu />
            <Push icon="fit" label="Show everything (F)" press={() => view.value?.fit()} />
            <Follow />
            <Push icon="camera" label="Save a picture (PNG)" press={() => void savePicture()} />
            <span class="sep" />
            <Push icon="help" label="Keys and mouse (?)" press={() => (dialog.value = "help")} />
            <Push icon="drawer" label="Plots and commands" on={look.value.drawer} press={switchLook("drawer")} />
            <Push icon="right" label="Elements and fields" on={look.value.side} press={switchLook("side")} />
            <span
                class={connected.value ? "dot" : "dot off"}
                role="status"
                title={connected.value ? "Connected" : "No connection"}
                aria-label={connected.value ? "Connected" : "No connection"}
            />
        </header>
    );
}

function Follow() {
    const one = chosen.value;
    const body = one?.table === "bodies" ? one.name : "";
    const on = following.value !== "";
    return (
        <Push
            icon="follow"
            label={on ? `Stop following ${following.value}` : "Let the camera follow the chosen body"}
            on={on}
            disabled={!on && !body}
            press={() => (following.value = on ? "" : body)}
        />
    );
}

export async function savePicture(): Promise<void> {
    const data = await view.value?.picture();
    if (!data) return;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(data);
    link.download = `${scene.value?.name ?? "picture"}.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
