// Section loads of the chosen body along its length: normal force, shear, torsion and bending.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { axisLook } from "../axes.ts";
import { dark, look, setLook } from "../look.ts";
import { along, dot, norm, sub, unit } from "../maths.ts";
import type { Loads, Vec3 } from "../protocol.ts";
import { chosen, loads } from "../state.ts";
import { short } from "../words.ts";

const NAMES = ["normal force [N]", "shear [N]", "torsion [N m]", "bending [N m]"];
const COLORS = ["#2f6fb3", "#3d9950", "#a5537f", "#d9822b"];

/** Normal force, shear, torsion and bending at each place. */
export function partsOf({ start, end, force, moment }: Loads): number[][] {
    const span = sub(end, start);
    const axis: Vec3 = norm(span) > 0 ? unit(span) : [0, 0, 1];
    const across = (v: Vec3) => norm(along(v, axis, -dot(v, axis)));
    return [force.map((f) => dot(f, axis)), force.map(across), moment.map((m) => dot(m, axis)), moment.map(across)];
}

function Chart({ of }: { of: Loads }) {
    const ref = useRef<HTMLDivElement>(null);
    const chart = useRef<uPlot | null>(null);
    useEffect(() => {
        const box = ref.current!;
        const axis = axisLook();
        const numbers = (_: uPlot, splits: number[]) => splits.map(short);
        const made = new uPlot(
            {
                width: Math.max(box.clientWidth - 8, 60),
                height: Math.max(box.clientHeight - 30, 40),
                scales: { x: { time: false } },
                axes: [
                    { ...axis, size: 22, values: numbers },
                    { ...axis, scale: "N", size: 60, values: numbers },
                    { ...axis, scale: "N m", side: 1, size: 60, values: numbers, grid: { show: false } },
                ],
                series: [
                    { label: "place [m]", value: (_, one) => (one === null ? "–" : short(one)) },
                    ...NAMES.map((label, k) => ({
                        label,
                        stroke: COLORS[k],
                        width: 1.6,
                        points: { show: false },
                        scale: k < 2 ? "N" : "N m",
                        value: (_: uPlot, one: number | null) => (one === null ? "–" : short(one)),
                    })),
                ],
            },
            [of.place, ...partsOf(of)] as uPlot.AlignedData,
            box,
        );
        chart.current = made;
        const watch = new ResizeObserver(() =>
            made.setSize({ width: Math.max(box.clientWidth - 8, 60), height: Math.max(box.clientHeight - 30, 40) }),
        );
        watch.observe(box);
        return () => {
            watch.disconnect();
            made.destroy();
        };
    }, [dark.value, of.body]);
    useEffect(() => {
        chart.current?.setData([of.place, ...partsOf(of)] as uPlot.AlignedData);
    }, [of]);
    return <div class="chart" ref={ref} />;
}

export function Sections() {
    const one = chosen.value;
    const found = loads.value;
    if (!look.value.loads) {
        return (
            <div class="pane">
                <button onClick={() => setLook({ loads: true })}>Show section loads</button>
                <p class="quiet">Forces and moments inside the chosen body, along its length.</p>
            </div>
        );
    }
    if (one?.table !== "bodies") return <p class="quiet pane">Choose a body.</p>;
    if (found?.body !== one.name) return <p class="quiet pane">No loads of {one.name} have come yet.</p>;
    if (!found.place.length)
        return <p class="quiet pane">{found.remark || "It has no length along which there are sections."}</p>;
    return <Chart of={found} />;
}
