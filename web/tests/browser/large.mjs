// A server that plays the controller of a large network: 80 switches, 256 links, 128 hosts, 500 streams, all of which change each
// second, so that the browser alone is measured.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { gzipSync } from "node:zlib";

const DIST = new URL("../../dist/", import.meta.url);
const files = { "/": ["index.html", "text/html"], "/app.js": ["app.js", "text/javascript"], "/app.css": ["app.css", "text/css"], "/icon.svg": ["icon.svg", "image/svg+xml"] };
const read = (name) => readFileSync(new URL(name, DIST));
const [K, STREAMS] = [8, 500];
const hex = (number) => number.toString(16).padStart(16, "0");

/** FatTree: pods of K/2 edges and K/2 aggregations, (K/2)² cores. */
function fatTree() {
  const half = K / 2;
  const [edge, aggregation, core] = [(pod, i) => 1 + pod * K + i, (pod, i) => 1 + pod * K + half + i, (i) => 1 + K * K + i];
  const links = [];
  for (let pod = 0; pod < K; pod += 1)
    for (let a = 0; a < half; a += 1)
      for (let b = 0; b < half; b += 1) {
        links.push([edge(pod, a), 1 + b, aggregation(pod, b), 1 + a]);
        links.push([aggregation(pod, a), 1 + half + b, core(a * half + b), 1 + pod]);
      }
  return { edge, aggregation, core, links, switches: K * K + half * half, half };
}

const net = fatTree();
const wobble = (seed) => 0.5 + 0.5 * Math.sin(seed + performance.now() / 2000);

function state(now) {
  const link = (a, p, b, q) => ({
    src: { dpid: hex(a), port: p }, dst: { dpid: hex(b), port: q }, capacity_bps: 1e9, measured_capacity_bps: null, measured_capacity_at: null,
    delay_us: { base: 100, current: 100 + 50 * wobble(a) }, delay_at: now, load_bps: Math.round(1e9 * wobble(a * 7 + b)), available_bps: 1, load_at: now,
    loss: 0, loss_at: now, counters: { bytes: now, packets: now, dropped: 0, errors: 0 },
  });
  const hosts = Array.from({ length: 128 }, (_, at) => ({
    mac: `02:00:00:00:00:${at.toString(16).padStart(2, "0")}`, at: { dpid: hex(net.edge(at >> 4, (at >> 2) % 4)), port: 5 + (at % 4) },
    addresses: [`10.0.${at >> 4}.${at}`], last_seen: now,
  }));
  const transfer = (id) => ({
    id, kind: "mptcp", opened_at: 0,
    streams: Array.from({ length: 4 }, (_, nth) => {
      const [from, to] = [id % 8, (id + 1 + (id >> 3)) % 8];
      const path = [net.edge(from, id % 4), net.aggregation(from, nth), net.core(nth * 4 + (id % 4)), net.aggregation(to, nth), net.edge(to, id % 4)].map(hex);
      const rate = Math.round(2e8 * wobble(id + nth));
      return { id: id * 4 + nth, src: `10.0.${from}.${from * 16 + (id % 4) * 4}`, dst: `10.0.${to}.${to * 16 + (id % 4) * 4}`, src_port: 40000 + id, dst_port: 5201,
        path, bytes_sent: Math.round(now / 10) + id, bytes_received: 1, sent_bps: rate, received_bps: 0 };
    }),
  });
  return {
    schema: "braid/v1", now,
    switches: Array.from({ length: net.switches }, (_, at) => ({ dpid: hex(at + 1), address: "10.0.0.1:1", ports: [] })),
    links: net.links.flatMap(([a, p, b, q]) => [link(a, p, b, q), link(b, q, a, p)]),
    hosts, transfers: Array.from({ length: STREAMS / 4 }, (_, id) => transfer(id + 1)), events: [],
  };
}

/** All of it changes each second. */
const eighty = {
  switches: net.switches,
  snapshot: (now) => JSON.stringify(state(now)),
  delta(now) {
    const { links, transfers, hosts, ...rest } = state(now);
    const set = (items) => ({ set: items, removed: [] });
    return JSON.stringify({ schema: rest.schema, now: rest.now, links: set(links), transfers: set(transfers), hosts: set(hosts) });
  },
  get history() {
    return state(0).transfers[0];
  },
};

const clock = () => Math.round(performance.now() * 1e6);

function stream(response, network) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (event, data) => response.write(`event: ${event}\ndata: ${data}\n\n`);
  send("snapshot", network.snapshot(clock()));
  let second = 0;
  const timer = setInterval(() => send("delta", network.delta(clock(), (second += 1))), 1000);
  response.on("close", () => clearInterval(timer));
}

function history(response, { history: { id, streams: all } }) {
  const now = clock();
  const times = Array.from({ length: 300 }, (_, at) => now - (299 - at) * 1e9);
  const streams = all.map((it, nth) => ({ ...it, sent_bps: times.map((time) => 2e8 * wobble(time / 1e9 + nth)), received_bps: times.map(() => 0) }));
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ schema: "braid/v1", now, id, step_s: 1, times, streams }));
}

/** What a browser loads, in bytes. */
export const compressed = () => Object.values(files).reduce((sum, [name]) => sum + gzipSync(read(name)).length, 0);

/** Serves the page and a network; with the one of `pods.mjs` instead of 80 switches, what that says. */
export async function large(network = eighty) {
  const server = createServer((request, response) => answer(request, response, network));
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return {
    address: `http://127.0.0.1:${server.address().port}/`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function answer(request, response, network) {
  const path = new URL(request.url, "http://localhost").pathname;
  if (path === "/api/v1/stream") return stream(response, network);
  if (path === "/api/v1/transfers/history") return history(response, network);
  if (path === "/api/v1/testbed/links") return response.end('{"schema":"braid/v1","links":[]}');
  // A page without anything, which says how fast the browser is here.
  if (path === "/empty") return response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>Empty</title>");
  const [name, kind] = files[path] ?? [];
  if (!name) return response.writeHead(404).end();
  return response.writeHead(200, { "content-type": kind }).end(read(name));
}
