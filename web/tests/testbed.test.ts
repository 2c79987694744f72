import assert from "node:assert/strict";
import { test } from "node:test";
import type { Edge, Switch, TestbedLink } from "../src/domain/api";
import { amounts, joinable, key, likelyRate, newLink, place, removable, titles } from "../src/domain/testbed";

const end = (name: string, port?: number) => ({
  name,
  at: port === undefined ? null : { dpid: name, port },
  rate_bps: null,
  delay_us: 0,
  loss: 0,
});

const link = (...ends: TestbedLink["ends"]): TestbedLink => ({ up: true, ends });

test("a switch is named by its port, and a host by its interface", () => {
  assert.equal(place(end("s", 2)), "s:2");
  assert.equal(place(end("h.eth0")), "h.eth0");
  assert.equal(place(undefined), "");
});

test("only links that join the same two are called by their ports", () => {
  const links = [link(end("h.eth0"), end("s", 3)), link(end("s", 1), end("t", 1)), link(end("t", 2), end("s", 2))];
  assert.deepEqual([...titles(links).values()], ["h.eth0 – s", "s:1 – t:1", "t:2 – s:2"]);
  assert.deepEqual([...titles(links).keys()], links.map(key));
});

const between = (a: string, b: string): TestbedLink => link(end(a, 1), end(b, 1));
/** Switches, of which some are edges. */
const network = (dpids: string[], edges: string[] = []) => ({
  switches: new Map(dpids.map((dpid) => [dpid, { dpid, name: dpid === "u" ? "unlinked" : null } as Switch])),
  names: new Map<string, string>(),
  edges: new Map(edges.map((dpid) => [dpid, { dpid } as Edge])),
});

test("a new link joins switches of a testbed, also those without a link, but no edge", () => {
  const named = link({ ...end("ams1", 1), at: { dpid: "s", port: 1 } }, end("t", 1));
  assert.deepEqual([...joinable(network(["s", "t", "u", "e"], ["e"]), [named])], [["s", "ams1"], ["t", "t"], ["u", "unlinked"]]);
  assert.equal(joinable(network(["s", "t"]), []).size, 0, "no testbed");
});

test("only links between switches are removed, and found by both ports in any order", () => {
  const links = [link(end("h.eth0"), end("s", 3)), between("t", "s"), link(end("s", 2), end("e", 2))];
  const found = (id: string) => removable(network(["s", "t", "e"], ["e"]), links, id);
  assert.equal(found("s:1 t:1"), links[1]);
  assert.deepEqual([found("s:2 t:2"), found("e:2 s:2"), found("s:3 h:1")], [undefined, undefined, undefined]);
});

test("a form has Mbit/s, milliseconds and percent, and what is empty is left out", () => {
  assert.deepEqual(amounts({ rate: "0.5", delay: 1.5, loss: "2.5" }), { rate_bps: 500_000, delay_us: 1500, loss: 0.025 });
  assert.deepEqual(newLink({ rate: 50, delay: null, loss: " " }), { rate_bps: 50_000_000, delay_us: null, loss: null });
});

test("a new link is likely to be as fast as another between switches", () => {
  const fast = (it: TestbedLink, rate_bps: number) => link(...it.ends.map((end) => ({ ...end, rate_bps })));
  assert.equal(likelyRate([fast(link(end("h.eth0"), end("s", 3)), 1e9), between("s", "t"), fast(between("s", "t"), 2.5e6)]), "2.5");
  assert.equal(likelyRate([between("s", "t")]), "");
});
