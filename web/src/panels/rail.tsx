// The tools at the left.

import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../icons.tsx";
import { live } from "../state.ts";
import { take, tool, tools } from "../tools/tool.ts";

const GROUPS = [
    ["rod", "box", "plate", "wheel", "mesh"],
    ["hinge", "slider", "ball", "weld", "joint", "nail"],
    ["spring", "cable", "motor", "gear", "belt", "contact", "sensor"],
    ["trace", "ruler", "cut"],
];
const HIGH = 30; // px of a button
const LINE = 5; // px between groups

export function Rail() {
    const ref = useRef<HTMLElement>(null);
    const groups = GROUPS.map((ids) =>
        ids.flatMap((id) => tools.find((one) => one.id === id) ?? []).filter((one) => live.value || one.always),
    ).filter((group) => group.length > 0);
    const count = 1 + groups.reduce((sum, group) => sum + group.length, 0);
    useEffect(() => {
        const element = ref.current!;
        const fit = () => {
            const room = element.parentElement!.querySelector(".view")!.clientHeight - 6 - LINE * groups.length;
            const columns = Math.max(1, Math.ceil((count * 21.5) / room));
            const height = Math.min(
                HIGH,
                Math.floor(room / Math.ceil((count + (columns > 1 ? groups.length * (columns - 1) : 0)) / columns)),
            );
            element.style.setProperty("--columns", String(columns));
            element.style.setProperty("--tool", `${height}px`);
        };
        const watch = new ResizeObserver(fit);
        watch.observe(element.parentElement!.querySelector(".view")!);
        fit();
        return () => watch.disconnect();
    }, [count]);
    return (
        <nav class="rail" ref={ref} aria-label="Tools">
            <button
                class="flat"
                title="Choose, turn, pull (Esc)"
                aria-label="Choose"
                aria-pressed={tool.value === null}
                onClick={() => take(null)}
            >
                <Icon name="select" />
            </button>
            {groups.map((group) => (
                <>
                    <hr />
                    {group.map((one) => (
                        <button
                            key={one.id}
                            class="flat"
                            title={one.key ? `${one.label} (${one.key.toUpperCase()})` : one.label}
                            aria-label={one.label}
                            aria-pressed={tool.value === one}
                            onClick={() => take(tool.value === one ? null : one)}
                        >
                            <Icon name={one.icon} />
                        </button>
                    ))}
                </>
            ))}
        </nav>
    );
}
