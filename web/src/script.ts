// Scripts: texts of command lines, in parts that have titles, and what of them is being done.

import { signal } from "@preact/signals";
import type { Answer, Log } from "./protocol.ts";

export type Part = { title: string; lines: { text: string; number: number }[] };

/** The text that is edited. */
export const script = signal("");
/** The line that is being done or was refused, 0 for none, and why it was refused. */
export const running = signal({ line: 0, refused: "" });

/** Parts of a text. A line that begins with # is the title of a part; empty lines and comments do nothing. */
export function partsOf(text: string): Part[] {
    const parts: Part[] = [];
    text.split("\n").forEach((one, k) => {
        const line = one.trim();
        const title = /^#+\s*(.*)$/.exec(line);
        if (title) parts.push({ title: title[1] || `part ${parts.length + 1}`, lines: [] });
        else if (line && !line.startsWith(";")) {
            if (!parts.length) parts.push({ title: "", lines: [] });
            parts.at(-1)!.lines.push({ text: line, number: k + 1 });
        }
    });
    return parts.filter((part) => part.lines.length > 0);
}

/** A script that does again what stands in a log, at the times at which it was done. */
export function replayOf(entries: Log["entries"]): string {
    const lines = ["# Replay"];
    let clock = entries[0]?.time ?? 0;
    for (const { line, ok, time } of entries) {
        if (!ok || line.startsWith(";")) continue;
        const later = time - clock;
        if (later > 1e-9) lines.push(`run ${Number(later.toPrecision(12))}`);
        lines.push(line);
        const own = /^run\s+([-+.\deE]+)$/.exec(line);
        clock = own ? time + Number(own[1]) : time;
    }
    return `${lines.join("\n")}\n`;
}

let stops = false;

/** Do lines one after another, up to the first that is refused. execute: has one done. */
export async function perform(lines: Part["lines"], execute: (line: string) => Promise<Answer>): Promise<boolean> {
    if (running.peek().line && !running.peek().refused) return false;
    stops = false;
    for (const { text, number } of lines) {
        running.value = { line: number, refused: "" };
        const answer = await execute(text);
        if (!answer.ok) {
            running.value = { line: number, refused: answer.text || answer.error?.message || "it was refused" };
            return false;
        }
        if (stops) break;
    }
    running.value = { line: 0, refused: "" };
    return true;
}

/** End what is being done, after the line that it is at. */
export function halt(): void {
    stops = true;
}
