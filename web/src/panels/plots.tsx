// Plots of signals over time: a tree of all signals with a search, and the plot, in which a click shows that time.

import { signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { axisLook } from "../axes.ts";
import { dark } from "../look.ts";
import { setLook } from "../look.ts";
import { all, changes, COLORS, data, knownIn, MOST, plot, plotted, seconds, toggle } from "../plotted.ts";
import type { SignalGroup } from "../protocol.ts";
import { drawer, recorded, scene, shown, tell } from "../state.ts";
import { short, spoken } from "../words.ts";
import { rewind } from "./transport.tsx";
import { Finder } from "./finder.tsx";

const wanted = signal("");
const GROUPS = 80; // that are listed without a search
const FOUND = 120; // signals that a search lists

/** Plot what matters of an element. */
export function plotElement(table: string, name: string): void {
    const groups = scene.value?.signals.filter((one) => one.table === table && one.element === name) ?? [];
    const found = groups.flatMap(({ group, signals }) =>
        signals.filter(([, , usual]) => usual > 0).map(([label, , usual]) => ({ name: `${group}.${label}`, usual })),
    );
    if (!found.length) {
        tell("Nothing is recorded of it.", true);
        return;
    }
    const best = found.filter((one) => one.usual === 2);
    plot((best.length ? best : found).slice(0, 3).map((one) => one.name));
    setLook({ drawer: true });
    drawer.value = "plots";
}

function SignalRow({ name, label, unit }: { name: string; label: string; unit: string }) {
    const at = plotted.value.indexOf(name);
    return (
        <label title={name}>
            <input
                type="checkbox"
                checked={at >= 0}
                onChange={() => {
                    if (at < 0 && plotted.value.length >= MOST)
                        tell(`A plot shows at most ${MOST} signals: the first one makes room.`);
                    toggle(name);
                }}
            />
            <span>
                {label}
                {unit && ` [${unit}]`}
            </span>
            {at >= 0 && (
                <svg class="swatch" viewBox="0 0 14 3" aria-hidden="true">
                    <rect width="14" height="3" fill={COLORS[at]} />
                </svg>
            )}
        </label>
    );
}

function Group({ group }: { group: SignalGroup }) {
    const chosen = group.signals.some(([label]) => plotted.value.includes(`${group.group}.${label}`));
    const open = useSignal(chosen);
    return (
        <details open={open.value} onToggle={({ currentTarget }) => (open.value = currentTarget.open)}>
            <summary>{group.group}</summary>
            {open.value &&
                group.signals
                    .filter(([label, , usual]) => usual > 0 || plotted.value.includes(`${group.group}.${label}`))
                    .map(([label, unit]) => (
                        <SignalRow key={label} name={`${group.group}.${label}`} label={spoken(label)} unit={unit} />
                    ))}
        </details>
    );
}

function SignalTree() {
    const of = scene.value;
    const text = wanted.value.trim().toLowerCase();
    const words = text.split(/\s+/).filter(Boolean);
    const known = of ? [...knownIn(of).values()] : [];
    const found = text
        ? known.filter(({ name, unit }) => words.every((word) => `${name} [${unit}]`.toLowerCase().includes(word)))
        : [];
    const energies = known.filter(({ name }) => name.startsWith("energy.")).map(({ name }) => name);
    return (
        <div class="signals">
            <Finder of="Find a signal" value={wanted} />
            {text ? (
                <>
                    {found.slice(0, FOUND).map((one) => (
                        <SignalRow key={one.name} name={one.name} label={one.name} unit={one.unit} />
                    ))}
                    {found.length > FOUND && <p class="quiet">… {found.length - FOUND} more</p>}
                    {found.length === 0 && <p class="quiet pane">No signal has this name.</p>}
                </>
            ) : (
                <>
                    <div class="row">
                        <button class="flat" onClick={() => plot([])}>
                            None
                        </button>
                        {energies.length > 0 && (
                            <button class="flat" onClick={() => plot(energies)}>
                                Energies
                            </button>
                        )}
                        {seconds.value !== undefined || all.value ? (
                            <button
                                class="flat"
                                aria-pressed={all.value}
                                title="All that was recorded, or the last 20 s"
                                onClick={() => (all.value = !all.value)}
                            >
                                All time
                            </button>
                        ) : null}
                    </div>
                    {of?.signals.slice(0, GROUPS).map((group) => (
                        <Group key={group.group} group={group} />
                    ))}
                    {(of?.signals.length ?? 0) > GROUPS && (
                        <p class="quiet pane">… {of!.signals.length - GROUPS} more elements: search for them</p>
                    )}
                </>
            )}
        </div>
    );
}

const shortName = (name: string) => name.replace(/^(joint|body|drive|force|constraint|sensor)\./, "");

function options(names: string[], width: number, height: number): uPlot.Options {
    const known = scene.peek() ? knownIn(scene.peek()!) : new Map();
    const units = [...new Set(names.map((name) => known.get(name)?.unit ?? ""))];
    const axis = axisLook();
    return {
        width,
        height,
        scales: {
            x: { time: false, range: (_: uPlot, low: number | null, high: number | null) => spanOf(low, high) },
            ...Object.fromEntries(units.map((unit) => [unit || "1", { range: roomFor }])),
        },
        legend: { show: true, live: true },
        cursor: { drag: { x: true, y: false } },
        axes: [
            { ...axis, space: 60, size: 22, gap: 2, values: (_: uPlot, splits: number[]) => splits.map(short) },
            ...units.map((unit, k) => ({
                ...axis,
                scale: unit || "1",
                side: k === 0 ? 3 : 1,
                show: k < 2,
                size: 58,
                gap: 3,
                label: unit || undefined,
                labelSize: unit ? 14 : 0,
                labelGap: 0,
                labelFont: "11px system-ui, sans-serif",
                grid: { ...axis.grid, show: k === 0 },
                values: (_: uPlot, splits: number[]) => splits.map((one) => (one === null ? "" : short(one))),
            })),
        ] as uPlot.Axis[],
        series: [
            { label: "t [s]", value: (_, one) => (one === null ? "–" : short(one)) },
            ...names.map((name, k) => {
                const unit = known.get(name)?.unit ?? "";
                return {
                    label: `${shortName(name)}${unit ? ` [${unit}]` : ""}`,
                    stroke: COLORS[k],
                    width: 1.6,
                    points: { show: false },
                    scale: unit || "1",
                    value: (_: uPlot, one: number | null) => (one === null ? "–" : short(one)),
                };
            }),
        ],
        hooks: { draw: [drawNow] },
    };
}

/** Times from the first to the last; a second where there is one or none. */
const spanOf = (low: number | null, high: number | null): [number, number] =>
    low === null || high === null ? [0, 1] : high > low ? [low, high] : [low, low + 1];

/** Values with room above and below; what rounding leaves is no reason to look closer. */
function roomFor(_: uPlot, low: number | null, high: number | null): [number, number] {
    const [a, b] = [low ?? 0, high ?? 0];
    const size = Math.max(Math.abs(a), Math.abs(b));
    if (b - a > Math.max(1e-12 * size, 1e-11)) {
        const [from, to] = uPlot.rangeNum(a, b, 0.1, true);
        return [from ?? a, to ?? b];
    }
    const room = size > 1e-11 ? 0.1 * size : 1;
    return [a - room, b + room];
}

/** What is plotted; of one time or none, a second from there. */
function drawnData(): uPlot.AlignedData {
    const first = data.time[0] ?? shown.peek()?.time ?? 0;
    const found =
        data.time.length > 1
            ? [data.time, ...data.columns]
            : [[first, first + 1], ...data.columns.map((column) => [column[0] ?? null, null])];
    return found as uPlot.AlignedData;
}

/** A line at the time that is shown. */
function drawNow(chart: uPlot): void {
    const time = shown.peek()?.time;
    if (time === undefined) return;
    const x = chart.valToPos(time, "x", true);
    const { left, top, width, height } = chart.bbox;
    if (x < left || x > left + width) return;
    chart.ctx.save();
    chart.ctx.strokeStyle = dark.peek() ? "#e2a54a" : "#c77d0a";
    chart.ctx.lineWidth = 1;
    chart.ctx.beginPath();
    chart.ctx.moveTo(x, top);
    chart.ctx.lineTo(x, top + height);
    chart.ctx.stroke();
    chart.ctx.restore();
}

function Chart() {
    const ref = useRef<HTMLDivElement>(null);
    const chart = useRef<uPlot | null>(null);
    const key = `${data.names.join("\n")} ${dark.value}`;
    void changes.value;
    useEffect(() => {
        const box = ref.current!;
        chart.current?.destroy();
        chart.current = null;
        if (!data.names.length) return undefined;
        const size = () => ({ width: Math.max(box.clientWidth - 8, 60), height: Math.max(box.clientHeight - 4, 40) });
        const made = new uPlot(options(data.names, size().width, size().height), drawnData(), box);
        const fit = () => {
            const legend = box.querySelector<HTMLElement>(".u-legend")?.offsetHeight ?? 0;
            made.setSize({ width: size().width, height: Math.max(size().height - legend, 40) });
        };
        fit();
        chart.current = made;
        made.over.addEventListener("click", (event) => {
            if (made.select.width > 0) return;
            const box = made.over.getBoundingClientRect();
            void rewind(made.posToVal(event.clientX - box.left, "x"));
        });
        const watch = new ResizeObserver(fit);
        watch.observe(box);
        return () => {
            watch.disconnect();
            made.destroy();
            chart.current = null;
        };
    }, [key]);
    useEffect(() => {
        if (chart.current && chart.current.series.length === data.columns.length + 1)
            chart.current.setData(drawnData(), chart.current.select.width === 0);
    }, [changes.value]);
    useEffect(() => {
        if (shown.value?.status !== 1 || recorded.value) chart.current?.redraw(false, false); // else data come, and draw it
    }, [shown.value?.time]);
    return (
        <div class="chart" ref={ref}>
            {plotted.value.length === 0 && <p class="quiet pane">Choose signals at the left.</p>}
        </div>
    );
}

export function Plots() {
    return (
        <div class="plots">
            <SignalTree />
            <Chart />
        </div>
    );
}
