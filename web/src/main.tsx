// The page: panels around the view, fed by a session or by a recorded run.

import { effect } from "@preact/signals";
import { render } from "preact";
import { Adaptive } from "./panels/adaptive.tsx";
import { Commands } from "./panels/commands.tsx";
import { Element } from "./panels/element.tsx";
import { Dialogs } from "./panels/files.tsx";
import { Jog } from "./panels/jog.tsx";
import { Mechanism } from "./panels/mechanism.tsx";
import { Plots } from "./panels/plots.tsx";
import { Rail } from "./panels/rail.tsx";
import { Script } from "./panels/script.tsx";
import { Sections } from "./panels/sections.tsx";
import { Top } from "./panels/top.tsx";
import { Transport } from "./panels/transport.tsx";
import { Tree } from "./panels/tree.tsx";
import { View } from "./panels/view.tsx";
import "./tools/bodies.tsx";
import "./tools/joining.tsx";
import "./tools/driving.tsx";
import "./tools/measuring.tsx";
import "./style/base.css";
import "./style/grid.css";
import "./style/view.css";
import "./style/bar.css";
import "./style/side.css";
import "./style/drawer.css";
import "./style/menus.css";
import "./efforts.ts";
import { hook } from "./hook.ts";
import { listenToControllers } from "./gamepad.ts";
import { listen } from "./keys.ts";
import { look } from "./look.ts";
import { plotted, seconds } from "./plotted.ts";
import { RECORDING } from "./protocol.ts";
import { play, recordingIn } from "./recording.ts";
import { connect, watching } from "./socket.ts";
import { adaptive, chosen, drawer, live, panel, recorded, scene, state } from "./state.ts";
import { tool } from "./tools/tool.ts";

function Tab({ on, text, press }: { on: boolean; text: string; press: () => void }) {
    return (
        <button role="tab" aria-selected={on} onClick={press}>
            {text}
        </button>
    );
}

function Side() {
    const now = panel.value;
    return (
        <aside class="side" aria-label="Elements and fields">
            <Tree />
            <div class="tabs" role="tablist">
                <Tab on={now === "element"} text="Element" press={() => (panel.value = "element")} />
                <Tab on={now === "mechanism"} text="Mechanism" press={() => (panel.value = "mechanism")} />
                {tool.value?.settings && <Tab on={now === "tool"} text="Tool" press={() => (panel.value = "tool")} />}
                {adaptive.value && (
                    <Tab on={now === "adaptive"} text="Adaptive" press={() => (panel.value = "adaptive")} />
                )}
                {live.value && <Tab on={now === "jog"} text="Jog" press={() => (panel.value = "jog")} />}
            </div>
            {now === "element" && <Element />}
            {now === "mechanism" && <Mechanism />}
            {now === "jog" && <Jog />}
            {now === "adaptive" && <Adaptive />}
            {now === "tool" && (
                <div class="pane">
                    <div class="heading">
                        <b>{tool.value?.label}</b>
                    </div>
                    {tool.value?.settings?.()}
                </div>
            )}
        </aside>
    );
}

function Drawer() {
    const now = drawer.value;
    return (
        <section class="drawer" aria-label="Plots and commands">
            <div class="tabs" role="tablist">
                <Tab on={now === "plots"} text="Plots" press={() => (drawer.value = "plots")} />
                {live.value && (
                    <Tab on={now === "commands"} text="Commands" press={() => (drawer.value = "commands")} />
                )}
                {live.value && <Tab on={now === "script"} text="Script" press={() => (drawer.value = "script")} />}
                {!recorded.value && !adaptive.value && (
                    <Tab on={now === "sections"} text="Section loads" press={() => (drawer.value = "sections")} />
                )}
            </div>
            {now === "plots" && <Plots />}
            {now === "commands" && <Commands />}
            {now === "script" && <Script />}
            {now === "sections" && <Sections />}
        </section>
    );
}

function Page() {
    return (
        <div class="page">
            <Top />
            <Rail />
            <View />
            <Transport />
            {look.value.side && <Side />}
            {look.value.drawer && <Drawer />}
            <Dialogs />
        </div>
    );
}

window.bellcrank = hook;
effect(() => {
    if (adaptive.value && panel.peek() === "mechanism") panel.value = "adaptive"; // what there is to set in it
});
effect(() => {
    document.title = state.value ? `${state.value.name} – bellcrank` : "bellcrank";
});
const root = document.getElementById("app") ?? document.body;
render(<Page />, root);
listen();
listenToControllers();
const recording = recordingIn(RECORDING);
if (recording) play(recording);
else connect();
watching(() => {
    const { reactions, forces, contacts, velocities, accelerations, centres, loads, beams } = look.value;
    const one = chosen.value;
    const known = scene.value !== null;
    return {
        ...(known && look.value.drawer && drawer.value === "plots"
            ? { signals: plotted.value, seconds: seconds.value }
            : {}),
        reactions,
        forces,
        contacts,
        accelerations,
        ...(beams && scene.value?.sweeps.length ? { beams } : {}),
        twists: velocities || centres || accelerations,
        ...(one && look.value.side && panel.value === "element" ? { inspect: one.name } : {}),
        ...(one?.table === "bodies" && loads ? { loads: one.name } : {}),
    };
});
