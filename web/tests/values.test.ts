import assert from "node:assert/strict";
import { test } from "node:test";
import { short, typedLength, withPrefix } from "../src/words.ts";

test("lengths are typed in mm unless a unit is given", () => {
  assert.equal(typedLength("30"), 0.03);
  assert.equal(typedLength(" 1,5 m"), 1.5);
  assert.equal(typedLength("2in"), 0.0508);
  assert.equal(typedLength("long"), null);
});

test("numbers have four digits, forces three and a prefix", () => {
  assert.equal(short(1e-15), "0");
  assert.equal(short(123456), "1.235e5");
  assert.equal(short(0.12345), "0.1235");
  assert.equal(withPrefix(1249.6, "N"), "1.25 kN");
  assert.equal(withPrefix(0.0321, "N m"), "32.1 mN m");
});
