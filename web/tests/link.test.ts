import assert from "node:assert/strict";
import { test } from "node:test";
import { documentIn, linkTo } from "../src/link.ts";

const document = { name: "four-bar – with é", bodies: { crank: { mass: 1 } } };

test("a document comes back from its link", async () => {
    const link = await linkTo(document, "http://localhost:8080/");
    assert.match(link, /^http:\/\/localhost:8080\/#mechanism=[A-Za-z0-9_-]+$/);
    assert.deepEqual(await documentIn(new URL(link).hash), document);
    assert.equal(await documentIn(""), null);
    assert.equal(await documentIn("#other"), null);
});

test("what is no document, or too large, is refused", async () => {
    const packed = async (value: unknown) => new URL(await linkTo(value as typeof document, "http://x/")).hash;
    await assert.rejects(documentIn("#mechanism=<script>"), /letters/);
    await assert.rejects(documentIn("#mechanism=AAAA"));
    await assert.rejects(documentIn(`#mechanism=${"A".repeat(100_001)}`), /large/);
    await assert.rejects(documentIn(await packed([1])), /no mechanism/);
    await assert.rejects(documentIn(await packed({ name: "a".repeat(500_000) })), /large/);
});
