import assert from "node:assert/strict";
import { test } from "node:test";
import type { Delta, Event, Snapshot, Transfer } from "../src/domain/api";
import { csv, eventsCsv, linksCsv, stateJson, throughputCsv, throughputSvg, transfersCsv } from "../src/domain/export";
import { apply, Recorder, Run, type Message } from "../src/domain/run";
import { empty } from "../src/domain/view";

const second = (at: number) => at * 1e9;

const transfer = (sent_bps: number): Transfer => ({
  id: 7,
  kind: "mptcp",
  opened_at: 0,
  streams: [
    { id: 1, src: "10.0.0.1", dst: "10.0.0.2", src_port: 1, dst_port: 2, path: ["1"], bytes_sent: 1, bytes_received: 1, sent_bps, received_bps: 0 },
  ],
});

const snapshot: Snapshot = { schema: "braid/v1", now: second(1), switches: [], links: [], hosts: [], edges: [], transfers: [], events: [] };
const delta = (at: number, sent: number): Delta => ({ schema: "braid/v1", now: second(at), transfers: { set: [transfer(sent)], removed: [] } });
const event = { number: 1, time: second(2.5), level: "info", text: '=1, "x"', notice: "link_up" } as Event;

function record(messages: Message[], most?: number): string {
  const recorder = new Recorder(most);
  let view = empty;
  for (const it of messages) recorder.add(it.event, JSON.stringify(it.data), (view = apply(view, it)));
  return recorder.save();
}

const messages: Message[] = [
  { event: "snapshot", data: snapshot },
  { event: "delta", data: delta(2, 100) },
  { event: "event", data: event },
  { event: "delta", data: delta(3, 200) },
  { event: "delta", data: { schema: "braid/v1", now: second(4), transfers: { set: [], removed: ["7"] } } },
];

test("a run that was saved is as it was, at any time", () => {
  const run = Run.open(record(messages));
  assert.deepEqual([run.start, run.end], [second(1), second(4)]);
  const sent = (at: number) => run.at(second(at)).transfers.get("7")?.streams[0]?.sent_bps;
  assert.deepEqual([0, 1, 2, 3.9, 4, 2.2, 1].map(sent), [undefined, undefined, 100, 200, undefined, 100, undefined]);
  assert.deepEqual([run.at(second(2.4)).events.length, run.at(second(2.5)).events.length], [0, 1]);
  const history = run.history("7", second(4));
  assert.deepEqual(history?.times, [1, 2, 3, 4].map(second));
  assert.deepEqual(history?.streams[0]?.sent_bps, [null, 100, 200, null]);
  assert.equal(run.history("8", second(4)), null);
});

test("what is kept is bounded, and what was dropped is where the run begins", () => {
  const long = Array.from({ length: 100 }, (_, at): Message => ({ event: "delta", data: delta(2 + at, at) }));
  const text = record([...messages.slice(0, 1), ...long], 5_000);
  assert.ok(text.length < 8_000, String(text.length));
  const run = Run.open(text);
  assert.equal(run.end, second(101));
  const all = [...messages.slice(0, 1), ...long].reduce(apply, empty);
  assert.deepEqual(run.at(run.end).transfers, all.transfers);
});

test("a controller that was started anew begins another run", () => {
  const run = Run.open(record([...messages, { event: "snapshot", data: { ...snapshot, now: second(0.5) } }]));
  assert.deepEqual([run.start, run.end], [second(0.5), second(0.5)]);
});

test("what is no run is refused in words", () => {
  const file = (run: unknown) => JSON.stringify({ schema: "braid/v1", run });
  const cases: [string, RegExp][] = [
    ["", /no JSON/],
    ["null", /no run/],
    ["[]", /no run/],
    [file([]), /snapshot/],
    [file([{ event: "delta", data: {} }]), /snapshot/],
    [file([{ event: "snapshot", data: {} }]), /fit together/],
    [file([{ event: "snapshot", data: snapshot }, null]), /./],
  ];
  for (const [text, reason] of cases) assert.throws(() => Run.open(text), reason, text);
});

test("tables are read by other programs, and nothing in them becomes a formula", () => {
  assert.equal(csv([["a,b", 'c"d', null, -1, "-1", "=1"]]), `"a,b","c""d",,-1,'-1,'=1\r\n`);
  const run = Run.open(record(messages));
  const view = run.at(second(3));
  assert.match(transfersCsv(view), /\r\n7,mptcp,1,10\.0\.0\.1:1,10\.0\.0\.2:2,1,1,1,200\r\n$/);
  assert.match(eventsCsv(view), /2\.5,info,link_up,"'=1, ""x"""/);
  assert.match(linksCsv(view), /^from,to/);
  assert.equal(JSON.parse(stateJson(view)).transfers.length, 1);
});

test("the plot as a picture has its streams' colours and no markup of theirs", () => {
  const history = Run.open(record(messages)).history("7", second(3));
  assert.ok(history?.streams[0]);
  history.streams[0].src = "<script>";
  const svg = throughputSvg(history, 300);
  assert.match(svg, /polygon fill="#0072b2"/);
  assert.match(svg, /stroke-dasharray/);
  assert.ok(!svg.includes("<script>") && svg.includes("&lt;script&gt;"));
  assert.match(throughputCsv(history), /^seconds,.*sent_bps.*\r\n1,,\r\n2,100,0\r\n/);
});
