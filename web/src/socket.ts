// The connection to the session: commands out, scenes, frames, signals and events in.

import { effect } from "@preact/signals";
import * as protocol from "./protocol.ts";
import type { Answer, CommandName, Commands, Event, Frame, Scene, Signals, Watch } from "./protocol.ts";
import * as page from "./state.ts";
import { Tree } from "./tree.ts";

/** Whoever does commands: the session at the other end, or the player of a recorded page. */
export type Source = {
    ask(name: CommandName, given: object): Promise<Answer>;
    send(name: CommandName, given: object, seq?: number): void;
    watch(wanted: Watch["watch"]): void;
    complete(text: string): Promise<string[]>;
};

const refused = (text: string): Answer => ({ id: 0, ok: false, text });

let source: Source = {
    ask: () => Promise.resolve(refused("There is no connection to the session.")),
    send: () => undefined,
    watch: () => undefined,
    complete: () => Promise.resolve([]),
};

export function use(other: Source): void {
    source = other;
}

/** Do a command; the answer says whether it was done. */
export const ask = <Name extends CommandName>(name: Name, given: Commands[Name]): Promise<Answer> =>
    source.ask(name, given);

/** Do a command, and show why it was refused, or its message where there is one to be shown. */
export async function order<Name extends CommandName>(
    name: Name,
    given: Commands[Name],
    tells = false,
): Promise<Answer> {
    const answer = await source.ask(name, given);
    if (!answer.ok) page.tell(page.refusal(answer), true);
    else if (tells) page.tell(answer.text);
    return answer;
}

export const complete = (text: string): Promise<string[]> => source.complete(text);

/** Moves of the mouse, counted, so that frames say which they contain. */
export const moves = { sent: 0, done: 0, at: new Map<number, number>(), delays: [] as number[] };

export function move(body: string, target: protocol.Vec3): void {
    moves.sent += 1;
    moves.at.set(moves.sent, performance.now());
    source.send("move", { body, target }, moves.sent);
}

function noteMoved(frame: Frame): void {
    if (frame.moved <= moves.done) return;
    for (const [seq, at] of moves.at) {
        if (seq > frame.moved) break;
        if (seq === frame.moved) moves.delays.push(performance.now() - at);
        moves.at.delete(seq);
    }
    if (moves.delays.length > 500) moves.delays.splice(0, 250);
    moves.done = frame.moved;
}

type Listener<T> = (value: T) => void;
const onFrame: Listener<Frame>[] = [];
const onScene: Listener<Scene>[] = [];
const onSignals: Listener<Signals>[] = [];
export const whenFrame = (listener: Listener<Frame>): void => void onFrame.push(listener);
export const whenScene = (listener: Listener<Scene>): void => void onScene.push(listener);
export const whenSignals = (listener: Listener<Signals>): void => void onSignals.push(listener);

/** Counts of what was taken up, for tests and for the ladder of quality. */
export const taken = { frames: 0, scenes: 0, bytes: 0, busy: 0 };

const NUMBERS = 200; // ms between updates of numbers in panels
let nextNumbers = 0;
let late: ReturnType<typeof setTimeout> | undefined;

function showNumbers(frame: Frame): void {
    const wait = nextNumbers - performance.now();
    clearTimeout(late);
    if (wait > 0) {
        late = setTimeout(() => showNumbers(frame), wait);
        return;
    }
    nextNumbers = performance.now() + NUMBERS;
    page.shown.value = frame;
}

/** Take up a scene, and let everybody draw it. */
export function takeScene(scene: Scene): void {
    taken.scenes += 1;
    page.now.tree = scene.carriedBy ? new Tree(scene.carriedBy) : null;
    page.scene.value = scene;
    for (const listener of onScene) listener(scene);
}

/** Take up a frame, unless it belongs to another scene than the one that is shown. */
export function takeFrame(frame: Frame): void {
    if (frame.edition !== page.scene.peek()?.edition) return;
    taken.frames += 1;
    if (frame.tree) page.now.tree?.take(frame.tree, frame.origin);
    noteMoved(frame);
    page.now.frame = frame;
    for (const listener of onFrame) listener(frame);
    showNumbers(frame);
}

export function takeSignals(signals: Signals): void {
    for (const listener of onSignals) listener(signals);
}

const ENTRIES = 200; // of the log

export function takeEvent(event: Event): void {
    if (event.event === "state") page.state.value = event;
    else if (event.event === "log") {
        page.log.value = [...page.log.value, ...event.entries].slice(-ENTRIES);
    } else if (event.event === "inspected") page.inspected.value = event;
    else if (event.event === "loads") page.loads.value = event;
    else if (event.event === "closed") page.ended.value = event.text || "The session has ended.";
}

function takeBinary(data: ArrayBuffer): void {
    const begun = performance.now();
    const message = protocol.parse(data);
    taken.bytes += data.byteLength;
    if (message.kind === "frame") takeFrame(message.frame);
    else if (message.kind === "scene") takeScene(message.scene);
    else takeSignals(message.signals);
    taken.busy += performance.now() - begun;
}

const PATIENCE = [300, 600, 1200, 2500, 5000]; // ms until the next try to connect

/** Connect to the session that serves this page, again and again until it says that it has ended. */
export function connect(): void {
    const waiting = new Map<number, (answer: Answer) => void>();
    let socket: WebSocket | null = null;
    let id = 0;
    let tries = 0;
    let wanted: Watch["watch"] = {};

    const say = (message: object): boolean => {
        if (socket?.readyState !== WebSocket.OPEN) return false;
        socket.send(JSON.stringify(message));
        return true;
    };
    const question = (message: object): Promise<Answer> => {
        id += 1;
        const own = id;
        return new Promise((resolve) => {
            waiting.set(own, resolve);
            if (!say({ ...message, id: own })) {
                waiting.delete(own);
                resolve(refused("There is no connection to the session."));
            }
        });
    };
    use({
        ask: (name, given) => question({ ...given, do: name }),
        send: (name, given, seq) => void say({ ...given, do: name, ...(seq === undefined ? {} : { seq }) }),
        watch: (other) => {
            wanted = other;
            say({ watch: wanted });
        },
        complete: async (text) => ((await question({ complete: text })).result?.words as string[] | undefined) ?? [],
    });

    const open = () => {
        const scheme = location.protocol === "https:" ? "wss" : "ws";
        const next = new WebSocket(`${scheme}://${location.host}/ws`);
        next.binaryType = "arraybuffer";
        next.onopen = () => {
            socket = next;
            tries = 0;
            page.connected.value = true;
            page.log.value = [];
            say({ watch: wanted });
        };
        next.onmessage = ({ data }) => {
            if (data instanceof ArrayBuffer) {
                takeBinary(data);
                return;
            }
            const message = JSON.parse(data as string) as Answer | Event;
            if ("event" in message) takeEvent(message);
            else {
                waiting.get(message.id)?.(message);
                waiting.delete(message.id);
            }
        };
        next.onclose = () => {
            page.connected.value = false;
            for (const resolve of waiting.values()) resolve(refused("The connection to the session has ended."));
            waiting.clear();
            moves.sent = moves.done = 0;
            moves.at.clear();
            if (page.ended.peek()) return;
            setTimeout(open, PATIENCE[Math.min(tries, PATIENCE.length - 1)]);
            tries += 1;
        };
    };
    open();
    void fetch("kinds.json").then(async (answer) => {
        if (answer.ok) page.kinds.value = (await answer.json()) as protocol.Kinds;
    });
}

/** Send what is wanted whenever it changes. wanted: reads signals. */
export function watching(wanted: () => Watch["watch"]): void {
    let last = "";
    effect(() => {
        const found = wanted();
        const text = JSON.stringify(found);
        if (text !== last) {
            last = text;
            source.watch(found);
        }
    });
}
