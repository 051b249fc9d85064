// The command line and the log of everything that was done, by clicks too.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ask, complete } from "../socket.ts";
import { log } from "../state.ts";
import { short } from "../words.ts";

const line = signal("");
const words = signal<string[]>([]);
const past: string[] = [];
let at = 0;

async function run(): Promise<void> {
    const text = line.value.trim();
    if (!text) return;
    past.push(text);
    at = past.length;
    line.value = "";
    words.value = [];
    await ask("execute", { line: text });
}

/** The time of day, for lines of the log. */
const clock = (moment: number) => (moment ? new Date(1000 * moment).toLocaleTimeString([], { hour12: false }) : "");

const begun = (text: string) => /\S*$/.exec(text)?.[0] ?? "";

function put(word: string): void {
    line.value = line.value.slice(0, line.value.length - begun(line.value).length) + word;
    words.value = [];
}

async function fill(): Promise<void> {
    const found = await complete(line.value);
    if (found.length === 1) put(`${found[0]} `);
    else words.value = found.slice(0, 60);
}

export function Commands() {
    const box = useRef<HTMLDivElement>(null);
    const input = useRef<HTMLInputElement>(null);
    useEffect(() => {
        box.current!.scrollTop = box.current!.scrollHeight;
    }, [log.value]);
    return (
        <div class="commands">
            <div class="log" ref={box}>
                {log.value.length === 0 && (
                    <span class="quiet">
                        What is done by clicks appears here as lines that could have been typed. Type help for all
                        commands.
                    </span>
                )}
                {log.value.map((entry) => (
                    <div key={entry.number} class={entry.ok ? "" : "bad"}>
                        <span class="by" title={`at t = ${short(entry.time)} s of the run`}>
                            {!entry.own && entry.by} {clock(entry.moment)}
                        </span>
                        {entry.line}
                        {entry.text && <pre>{entry.text}</pre>}
                    </div>
                ))}
            </div>
            <div class="prompt">
                {words.value.length > 0 && (
                    <div class="words">
                        {words.value.map((word) => (
                            <button
                                key={word}
                                onClick={() => {
                                    put(`${word} `);
                                    input.current?.focus();
                                }}
                            >
                                {word}
                            </button>
                        ))}
                    </div>
                )}
                <input
                    ref={input}
                    aria-label="Command"
                    placeholder="A command; Tab completes it"
                    value={line.value}
                    spellcheck={false}
                    autocomplete="off"
                    onInput={({ currentTarget }) => {
                        line.value = currentTarget.value;
                        words.value = [];
                    }}
                    onKeyDown={(event) => {
                        if (event.key === "Enter") void run();
                        else if (event.key === "Tab" && line.value) {
                            event.preventDefault();
                            void fill();
                        } else if (event.key === "Escape") words.value = [];
                        else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
                            event.preventDefault();
                            at = Math.max(0, Math.min(past.length, at + (event.key === "ArrowUp" ? -1 : 1)));
                            line.value = past[at] ?? "";
                        }
                    }}
                />
                <button onClick={() => void run()}>Do it</button>
            </div>
        </div>
    );
}
