import assert from "node:assert/strict";
import { test } from "node:test";
import { partsOf, perform, replayOf, running } from "../src/script.ts";
import type { Answer } from "../src/protocol.ts";

const entry = (line: string, time: number, ok = true) => ({
    number: 1,
    by: "page",
    own: true,
    line,
    text: "",
    ok,
    time,
    moment: 0,
});

test("lines under a title are a part, comments and empty lines are none", () => {
    const parts = partsOf("set a 1\n# Lift\nrun 1\n\n; quiet\nset a 2\n# nothing\n");
    assert.deepEqual(
        parts.map(({ title, lines }) => [title, lines.map(({ text, number }) => [text, number])]),
        [
            ["", [["set a 1", 1]]],
            [
                "Lift",
                [
                    ["run 1", 3],
                    ["set a 2", 6],
                ],
            ],
        ],
    );
});

test("a replay runs as long as passed between lines, and leaves out what was refused", () => {
    const log = [entry("set a 1", 0.5), entry("run 1", 0.5), entry("bad", 1.5, false), entry("set a 2", 1.75)];
    assert.equal(replayOf(log), "# Replay\nset a 1\nrun 1\nrun 0.25\nset a 2\n");
});

test("a script ends at the line that is refused", async () => {
    const done: string[] = [];
    const execute = (line: string): Promise<Answer> => {
        done.push(line);
        return Promise.resolve({ id: 0, ok: line !== "two", text: line === "two" ? "why" : "" });
    };
    assert.equal(await perform(partsOf("one\ntwo\nthree")[0].lines, execute), false);
    assert.deepEqual(done, ["one", "two"]);
    assert.deepEqual(running.value, { line: 2, refused: "why" });
});
