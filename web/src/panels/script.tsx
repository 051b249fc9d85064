// Scripts: a text of command lines whose parts are done by buttons, and the log as such a text.

import { useRef } from "preact/hooks";
import { halt, partsOf, perform, replayOf, running, script } from "../script.ts";
import { ask } from "../socket.ts";
import { log } from "../state.ts";

const execute = (line: string) => ask("execute", { line });

export function Script() {
    const field = useRef<HTMLTextAreaElement>(null);
    const parts = partsOf(script.value);
    const { line, refused } = running.value;
    const busy = line > 0 && !refused;
    const all = parts.flatMap((part) => part.lines);
    const stop = () => {
        halt();
        void ask("pause", {});
    };
    return (
        <div class="script">
            <textarea
                ref={field}
                aria-label="Script"
                spellcheck={false}
                value={script.value}
                placeholder={"# Lift\nset grip 0.4\nrun 2\n# Back\nreset"}
                onInput={({ currentTarget }) => (script.value = currentTarget.value)}
            />
            <div class="actions">
                <div class="row">
                    <button disabled={busy || !all.length} onClick={() => void perform(all, execute)}>
                        Do all
                    </button>
                    <button disabled={!busy} onClick={stop}>
                        Stop
                    </button>
                    <button
                        disabled={!log.value.length}
                        title="What was done in this session, with the times at which it was done, as a script"
                        onClick={() => (script.value = replayOf(log.value))}
                    >
                        From the log
                    </button>
                </div>
                {parts
                    .filter((part) => part.title)
                    .map((part) => (
                        <button
                            key={part.title}
                            class="main"
                            disabled={busy}
                            title={part.lines.map(({ text }) => text).join("\n")}
                            onClick={() => void perform(part.lines, execute)}
                        >
                            {part.title}
                        </button>
                    ))}
                {!parts.length && (
                    <p class="quiet">
                        Command lines, one below the other. A line that begins with # is the title of what follows, and
                        becomes a button.
                    </p>
                )}
                {busy && <p class="quiet">line {line} …</p>}
                {refused && (
                    <p class="warn" role="status">
                        Line {line}: {refused}
                    </p>
                )}
            </div>
        </div>
    );
}
