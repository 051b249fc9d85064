// The view: the stage with its layers, and what lies over it: hints, the name under the pointer, messages.

import { computed, effect, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { dimensions, typing } from "../dimensions.ts";
import type { Dimension } from "../dimensions.ts";
import { Icon } from "../icons.tsx";
import { following, keepStanding, takeStanding } from "../kept.ts";
import { dark, look } from "../look.ts";
import { Pointing } from "../pointing.ts";
import { order, whenFrame, whenScene } from "../socket.ts";
import {
    connected,
    dismiss,
    ended,
    hovered,
    live,
    notices,
    now,
    scene,
    selection,
    shown,
    state,
    tell,
} from "../state.ts";
import { Arrows } from "../stage/arrows.ts";
import { Labels } from "../stage/labels.ts";
import { Marks } from "../stage/marks.ts";
import { Paths } from "../stage/paths.ts";
import { Sizes } from "../stage/sizes.ts";
import { Stage } from "../stage/stage.ts";
import { bind, tool } from "../tools/tool.ts";
import { distance } from "../maths.ts";
import { lengthText, typedLength, withPrefix } from "../words.ts";

/** The stage, once there is one. */
export const view = signal<Stage | null>(null);
const tip = signal({ text: "", x: 0, y: 0 });
const contact = signal("");

/** Make the stage and keep it up with the session and with what is wanted. */
function raise(box: HTMLElement): () => void {
    const stage = new Stage(box);
    const labels = new Labels();
    const arrows = new Arrows(stage, labels);
    const marks = new Marks(stage, labels);
    const sizes = new Sizes(stage, labels);
    const paths = new Paths(stage);
    const pointing = new Pointing(stage, marks, (text, x, y) => {
        const old = tip.peek();
        if (old.text !== text || old.x !== x || old.y !== y) tip.value = { text, x, y };
    });
    stage.layers.push(
        () => labels.begin(),
        () => names(stage, labels),
        () => arrows.draw(stage),
        () => marks.draw(stage),
        () => sizes.draw(stage),
        () => paths.draw(),
        () => labels.end(stage),
    );
    whenScene((next) => {
        stage.show(next, null);
        const known = (name: string) => next.carriers.includes(name);
        if (following.peek() && !known(following.peek())) following.value = "";
        selection.value = selection
            .peek()
            .filter(({ table, name }) => name in ((next.document[table] as object | undefined) ?? {}));
    });
    stage.changed = () => {
        arrows.renew();
        const { camera, poses } = stage;
        const stood = takeStanding();
        if (stood) camera.stand(poses.toPage(stood.eye), poses.toPage(stood.target), stood.up);
        paint(stage);
        stage.followBody(stage.scene?.carriers.indexOf(following.peek()) ?? -1);
        pointing.refresh();
    };
    keepStanding(
        () => {
            const { camera, poses } = stage;
            return (
                poses.frame && {
                    eye: poses.toWorld(camera.eye),
                    target: poses.toWorld(camera.target),
                    up: camera.axes[1],
                }
            );
        },
        (moved) => {
            const draws = stage.camera.changed;
            stage.camera.changed = () => {
                draws();
                moved();
            };
        },
    );
    let moving = false;
    whenFrame((frame) => {
        stage.take(frame);
        noteRange(stage);
        if (now.tree && look.peek().clusters && stage.pieces?.isStale(now.tree)) paint(stage);
        if (moving && !frame.moving) stage.request();
        moving = frame.moving;
        if (tool.peek() || selection.peek().length) refresh();
        if (look.peek().contacts) noteContacts(arrows);
    });
    let colored = look.peek().beams;
    let soon = false;
    const refresh = () => {
        if (soon) return;
        soon = true;
        setTimeout(() => {
            soon = false;
            pointing.refresh();
        }, 60);
    };
    const stops = [
        effect(() => stage.paint(look.value, dark.value)),
        effect(() => {
            if (look.value.beams !== colored) stage.pieces?.beams.forget();
            colored = look.value.beams;
        }),
        effect(() => {
            void [selection.value, hovered.value, look.value.clusters, marked.value];
            paint(stage);
            stage.request();
        }),
        effect(() => {
            marks.points = tool.value?.points ?? false;
            void selection.value;
            pointing.refresh();
        }),
        effect(() => {
            void dimensions.value;
            stage.request();
        }),
        effect(() => stage.followBody(scene.value?.carriers.indexOf(following.value) ?? -1)),
    ];
    bind(stage);
    if (scene.peek()) stage.show(scene.peek()!, now.frame);
    view.value = stage;
    return () => stops.forEach((stop) => stop());
}

/** What of the state is painted: it changes seldom, while much else in it changes all the time. */
const marked = computed(() => JSON.stringify([state.value?.active, state.value?.misfits]));

function paint(stage: Stage): void {
    const tree = look.peek().clusters ? now.tree : null;
    stage.pieces?.paint(selection.peek(), hovered.peek(), state.peek(), tree);
}

function noteContacts(arrows: Arrows): void {
    const { points, largest } = arrows.contact;
    contact.value = points
        ? `${points} points touch; the largest force is ${withPrefix(largest, "N")}`
        : "Nothing touches.";
}

/** Names of bodies and joints beside them. */
function names(stage: Stage, labels: Labels): void {
    const { scene: of, poses } = stage;
    const { bodyNames, jointNames } = look.peek();
    if (!of || !poses.frame) return;
    if (bodyNames) {
        for (let body = 0; body < Math.min(poses.count, 300); body += 1) {
            labels.put({ place: poses.place(body, middleOf(stage, body)), text: of.carriers[body], kind: "", dy: -12 });
        }
    }
    if (jointNames)
        for (const joint of of.joints.slice(0, 300))
            labels.put({ place: poses.place(joint.carriers[0], joint.point), text: joint.name, kind: "", dy: 14 });
}

const middles = new WeakMap<object, Map<number, [number, number, number]>>();

/** The middle of what is drawn of a body, in its frame. */
function middleOf(stage: Stage, body: number): [number, number, number] {
    const of = stage.scene!;
    if (!middles.has(of)) middles.set(of, new Map());
    const known = middles.get(of)!;
    if (!known.has(body)) {
        const box = stage.pieces!.box(stage.poses, body);
        known.set(
            body,
            box
                ? stage.poses.local(body, [0, 1, 2].map((k) => (box[0][k] + box[1][k]) / 2) as [number, number, number])
                : [0, 0, 0],
        );
    }
    return known.get(body)!;
}

/** The quantity by which beams are coloured, with what was shown of it since it was chosen. */
const range = signal({ low: 0, high: 0, known: false });

function noteRange(stage: Stage): void {
    const shown = stage.poses.frame?.beams.length ? (stage.pieces?.beams.shown ?? null) : null;
    const { low, high, known } = range.peek();
    if (known === (shown !== null) && (!shown || (shown.low === low && shown.high === high))) return;
    range.value = { low: shown?.low ?? 0, high: shown?.high ?? 0, known: shown !== null };
}

/** The bar of the colours of beams. */
function ColorBar() {
    const of = scene.value;
    const { low, high, known } = range.value;
    const quantity = of?.quantities.find(([name]) => name === look.value.beams);
    if (!of || !quantity || !known) return null;
    const [, label, unit] = quantity;
    const stops = of.scale.map((color) => `rgb(${color.map((x) => Math.round(255 * x)).join(" ")})`);
    const least = 1e-6 * Math.max(Math.abs(low), Math.abs(high));
    const text = (value: number) => withPrefix(Math.abs(value) <= least ? 0 : value, unit);
    return (
        <button
            class="colorbar"
            title="Begin the range anew"
            aria-label={`Colours of ${label}, from ${text(low)} to ${text(high)}`}
            onClick={() => {
                view.value?.pieces?.beams.forget();
                view.value?.again();
            }}
        >
            <b>{label}</b>
            <span class="strip" style={{ background: `linear-gradient(to right, ${stops.join(", ")})` }} />
            <span class="ends">
                <span>{text(low)}</span>
                <span>{text(high)}</span>
            </span>
        </button>
    );
}

function Hint() {
    const held = tool.value;
    if (!held) return null;
    const hint = held.hint();
    return (
        <div class="hint" role="status">
            <b>{held.label}</b>: {hint} <span class="quiet">· Esc ends it</span>
        </div>
    );
}

function Notices() {
    return (
        <div class="notices" aria-live="polite">
            {notices.value.map(({ key, text, error }) => (
                <div key={key} class={error ? "notice error" : "notice"} role={error ? "alert" : "status"}>
                    <span>{text}</span>
                    <button class="flat" aria-label="Close the message" onClick={() => dismiss(key)}>
                        <Icon name="close" />
                    </button>
                </div>
            ))}
        </div>
    );
}

/** A dimension after its length was typed: its second point, unless that was a marker and has moved already. */
function stretched(each: Dimension, typed: Dimension, value: number): Dimension {
    const { from, to } = typed;
    if (each.from.body !== from.body || distance(each.to.point, to.point) > 1e-9) return each;
    const size = distance(from.point, to.point);
    const point = to.point.map((x, k) => from.point[k] + ((x - from.point[k]) * value) / size) as typeof to.point;
    return { from: each.from, to: { body: to.body, point } };
}

/** A field over a dimension, to type another distance. */
function Typing() {
    const one = typing.value;
    if (!one) return null;
    const { from, to } = one.dimension;
    const of = scene.value!;
    const stage = view.value!;
    const [a, b] = [from, to].map(({ body, point }) => stage.poses.place(of.carriers.indexOf(body), point));
    const done = (text: string) => {
        const value = typedLength(text);
        typing.value = null;
        if (value === null || !(value > 0)) return;
        if (from.body !== to.body) {
            tell("Both points must be on one body: only then its length can be changed.", true);
            return;
        }
        void order("length", { body: from.body, first: from.point, second: to.point, value }).then(({ ok }) => {
            if (ok) dimensions.value = dimensions.peek().map((each) => stretched(each, one.dimension, value));
        });
    };
    return (
        <input
            class="tag size"
            aria-label="Length"
            ref={(element) => {
                if (!element) return;
                element.style.transform = `translate(${Math.round(one.x - 40)}px, ${Math.round(one.y - 12)}px)`;
                element.style.width = "84px";
                if (document.activeElement !== element) {
                    element.focus();
                    element.select();
                }
            }}
            defaultValue={lengthText(distance(a, b))}
            onKeyDown={(event) => {
                event.stopPropagation();
                if (event.key === "Enter") done(event.currentTarget.value);
                else if (event.key === "Escape") typing.value = null;
            }}
            onBlur={() => (typing.value = null)}
        />
    );
}

/** Why there is no picture, "" where there is one. */
const blind = signal("");

function Empty() {
    const of = scene.value;
    if (blind.value) return <div class="empty">{blind.value}</div>;
    if (!of) return <div class="empty">{ended.value || (connected.value ? "" : "Connecting to the session…")}</div>;
    if (!live.value || of.carriers.length > 1 || tool.value) return null;
    return (
        <div class="empty">
            <div>
                The bench is empty.
                <br />
                Take the rod at the left (R) and click where it begins and ends.
            </div>
        </div>
    );
}

function Remark() {
    const now = state.value;
    const text =
        ended.value ||
        (!connected.value && scene.value
            ? "The connection has ended; trying again…"
            : now?.message || (now?.preparing ? `preparing ${now.preparing}…` : ""));
    const late = now?.late && shown.value?.status === 1 ? "slower than asked" : "";
    const bad = now?.status === "failed" || ended.value !== "";
    return (
        <div class="corner">
            {text && text !== read.value && (
                <div class={bad ? "bad" : "quiet"}>
                    {text}
                    {bad && !ended.value && (
                        <button class="flat" aria-label="Close the message" onClick={() => (read.value = text)}>
                            <Icon name="close" />
                        </button>
                    )}
                </div>
            )}
            {late && <div class="warn">{late}</div>}
            {look.value.contacts && <div class="quiet">{contact.value}</div>}
        </div>
    );
}

/** The remark that was closed. */
const read = signal("");

export function View() {
    const ref = useRef<HTMLDivElement>(null);
    useEffect(() => {
        try {
            return raise(ref.current!);
        } catch (error) {
            console.info(error);
            blind.value =
                "This browser draws no pictures in space: WebGL 2 is missing or switched off. Panels, plots and commands work.";
            return undefined;
        }
    }, []);
    const { text, x, y } = tip.value;
    return (
        <main class="view" ref={ref}>
            <div class="overlay">
                <Empty />
                <Hint />
                {text && (
                    <div
                        class="tip"
                        ref={(element) => {
                            if (element)
                                element.style.transform = `translate(${Math.round(x + 14)}px, ${Math.round(y + 14)}px)`;
                        }}
                    >
                        {text}
                    </div>
                )}
                <Remark />
                <ColorBar />
                <Notices />
                <Typing />
            </div>
        </main>
    );
}
