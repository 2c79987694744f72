import assert from "node:assert/strict";
import { test } from "node:test";
import { ageText, behind, notice, roleOf, standsBy, stateAge, type Cluster } from "../src/domain/cluster";

const cluster = (more: Partial<Cluster> = {}): Cluster => ({
  schema: "", now: 100e9, name: "site", member: "a", leader: "b", term: 3, newest_term: 3, store_answers: true,
  members: [{ name: "a", address: "" }, { name: "b", address: "", last_heard: 99e9 }, { name: "c", address: "", last_heard: 60e9 }], ...more,
});

test("each member leads, stands by or does not answer", () => {
  const it = cluster();
  assert.deepEqual(it.members.map((member) => roleOf(it, member)), ["stands by", "leads", "does not answer"]);
  assert.deepEqual([standsBy(it), standsBy(cluster({ leader: "a" })), standsBy(cluster({ leader: null })), standsBy(null)], [true, false, true, false]);
});

test("how far a member is behind the leader, or why it cannot follow", () => {
  const member = { name: "a", address: "" };
  const texts = [null, { lag_us: 20_000 }, { lag_us: null }, { problem: "it is too old" }].map((following) => behind({ ...member, following }));
  assert.deepEqual(texts, ["–", "20.00 ms", "begins", "knows nothing of it"]);
});

test("the age of a state is what the header says", () => {
  assert.deepEqual([null, "never", "12.5", "soon"].map(stateAge), [null, "never", 12.5, null]);
  assert.deepEqual([null, "never" as const, 12.5].map(ageText), ["current", "none yet: it has not led", "12.5 s old"]);
});

test("a member that stands by says who leads, and how old what it shows is", () => {
  assert.equal(notice(cluster(), 12), "a stands by: b leads. What it shows is 12.0 s old.");
  assert.equal(notice(cluster({ leader: null }), "never"), "a stands by: no member leads. It has not led yet, so it shows no network.");
});
