import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestbedLink } from "../src/domain/api";
import { key, place, titles } from "../src/domain/testbed";

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
