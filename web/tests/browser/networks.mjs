// Networks for the tests of the page: what a controller would say of them.
const hex = (number) => number.toString(16).padStart(16, "0");
const SECOND = 1e9;
export const NOW = 400 * SECOND;

/** One direction of a link. */
export const directed = (a, p, b, q, load, capacity = 1e8) => ({
  src: { dpid: a, port: p }, dst: { dpid: b, port: q }, capacity_bps: capacity, measured_capacity_bps: null, measured_capacity_at: null,
  delay_us: { base: 210, current: 390, p50: 310, p99: 870 }, delay_at: NOW - SECOND, load_bps: Math.round(load * capacity), available_bps: Math.round((1 - load) * capacity),
  load_at: NOW - 0.4 * SECOND, loss: 0, loss_at: NOW, counters: { bytes: 5e9, packets: 4e6, dropped: 12, errors: 0 },
});
const joined = (a, p, b, q, there, back, capacity) => [directed(a, p, b, q, there, capacity), directed(b, q, a, p, back, capacity)];
const node = (number, name, ports, more = {}) => ({
  dpid: hex(number), role: "master", name, address: `10.9.0.${number % 250}:53211`, ...more,
  ports: ports.map(([port, title, role = "link", up = true]) => ({ port, name: title, role: up ? role : null, up })),
});
const host = (number, at, port, addresses, name) => ({ mac: `52:54:00:00:01:${number.toString(16).padStart(2, "0")}`, at: { dpid: at, port }, addresses, last_seen: NOW - 2 * SECOND, ...(name ? { name, host: name } : {}) });
const stream = (id, src, dst, path, sent, more = {}) => ({
  id, src, dst, src_port: 40000 + id, dst_port: 5201, path, ports: [], bytes_sent: sent * 20, bytes_received: sent / 4, sent_bps: sent, received_bps: sent / 50, ...more,
});
const base = { schema: "braid/v1", now: NOW, edges: [] };

/** Amsterdam and Geneva: two switches each, MPTCP over both paths, one link that was cut. */
export function office(cut = false) {
  const [ams1, ams2, gva1, gva2] = [1, 2, 3, 4].map(hex);
  const all = [joined(ams1, 2, gva1, 2, 0.96, 0.03), joined(ams2, 2, gva2, 2, 0.91, 0.02), joined(ams1, 3, ams2, 3, 0.05, 0.01), joined(gva1, 3, gva2, 3, 0.01, 0.06)];
  const links = (cut ? all.slice(1) : all).flat();
  const paths = cut ? [[ams1, ams2, gva2, gva1], [ams2, gva2]] : [[ams1, gva1], [ams2, gva2]];
  const event = (number, at, notice, text, more = {}, level = "info") => ({ number, time: at * SECOND, level, notice, text, ...more });
  const down = cut ? [
    event(20, 352, "link_down", `link ${ams1}:2 > ${gva1}:2 is down: its port is down`, { src: { dpid: ams1, port: 2 }, dst: { dpid: gva1, port: 2 }, why: "port_down" }, "warning"),
    event(21, 352, "link_down", `link ${gva1}:2 > ${ams1}:2 is down: its port is down`, { src: { dpid: gva1, port: 2 }, dst: { dpid: ams1, port: 2 }, why: "port_down" }, "warning"),
    event(22, 352.01, "stream_placed", `stream 11 of transfer 1, 10.0.1.1:40011 > 10.0.1.2:5201, takes ${paths[0].join(", ")} and shares 1 link`, { id: 11, transfer: 1, path: paths[0], shared_links: 1 }),
  ] : [];
  const snapshot = {
    ...base,
    switches: [
      node(1, "ams1", [[1, "ams1-ams", "host"], [2, "ams1-gva1", "link", !cut], [3, "ams1-ams2"]]), node(2, "ams2", [[1, "ams2-ams", "host"], [2, "ams2-gva2"], [3, "ams2-ams1"]]),
      node(3, "gva1", [[1, "gva1-gva", "host"], [2, "gva1-ams1", "link", !cut], [3, "gva1-gva2"]]), node(4, "gva2", [[1, "gva2-gva", "host"], [2, "gva2-ams2"], [3, "gva2-gva1"]]),
    ],
    links,
    hosts: [host(1, ams1, 1, ["fe80::1", "10.0.1.1"], "ams"), host(2, ams2, 1, ["10.0.2.1"], "ams"), host(3, gva1, 1, ["10.0.1.2"], "gva"), host(4, gva2, 1, ["10.0.2.2"])],
    transfers: [
      { id: 1, kind: "mptcp", opened_at: 40 * SECOND, streams: [stream(11, "10.0.1.1", "10.0.1.2", paths[0], cut ? 4.4e7 : 9.5e7), stream(12, "10.0.2.1", "10.0.2.2", paths[1], cut ? 4.7e7 : 9.1e7)] },
      { id: 2, kind: "parallel", opened_at: 200 * SECOND, streams: [stream(21, "10.0.1.1", "10.0.1.2", paths[0], 2e6)] },
    ],
    events: [
      event(1, 1, "switch_joined", `switch ${ams1} joined with 3 ports`, { dpid: ams1, ports: 3 }),
      event(2, 40, "transfer_opened", "transfer 1 opened (mptcp)", { id: 1, kind: "mptcp" }),
      event(3, 40, "stream_placed", `stream 11 of transfer 1, 10.0.1.1:40011 > 10.0.1.2:5201, takes ${ams1}, ${gva1}`, { id: 11, transfer: 1, path: [ams1, gva1], shared_links: 0 }),
      event(4, 40.1, "stream_placed", `stream 12 of transfer 1, 10.0.2.1:40012 > 10.0.2.2:5201, takes ${ams2}, ${gva2}`, { id: 12, transfer: 1, path: [ams2, gva2], shared_links: 0 }),
      ...Array.from({ length: 9 }, (_, at) => event(5 + at, 150 + at * 14, "stream_ended", `stream ${30 + at} ended after 1.2 MB`, { id: 30 + at, bytes: 1.2e6 })),
      ...down,
    ],
  };
  return { snapshot, deltas: growing(snapshot), answers: answersOf(snapshot, paths, cut) };
}

/** Rules of a switch, as the controller tells them of ams1 and of a switch that does not answer. */
export function ruled() {
  const { answers, ...rest } = office();
  const rule = (table, table_name, priority, match, actions, purpose, more = {}) => ({
    table, table_name, priority, match, actions, group: null, packets: 1200, bytes: 1.5e6, age_seconds: 90, cookie: "0xb700000000000000", kind: "admission", purpose,
    stream: null, transfer: null, reverse: null, label: null, path: [], path_names: [], ...more,
  });
  const group = (number, kind, purpose) => ({ number, kind, purpose });
  const flood = group(1, "flood", "flood group: all ports of the broadcast tree");
  const port = group(2 << 16, "protected_port", "protected port: 2 (gva1), or its bypass");
  const rules = [
    rule(0, "admit", 100, "eth_type=0x88cc", "output:CONTROLLER", "discovery frames, to the controller"),
    rule(0, "admit", 10, "in_port=1", "goto_table:1", "packets of hosts at port 1"),
    rule(1, "stream", 50, "tcp,ip_src=10.0.1.1,ip_dst=10.0.1.2,tcp_src=40011,tcp_dst=5201", "set_field:02:b7:00:00:00:09->eth_dst,group:131072", "stream 11 of transfer 1 (forward), path ams1 > gva1", { group: port, kind: "stream", stream: 11, transfer: 1, reverse: false, label: 9 }),
    rule(2, "route", 60, "eth_dst=01:00:00:00:00:00/01:00:00:00:00:00", "group:1", "broadcast tree, from hosts", { group: flood, kind: "broadcast" }),
    rule(9, null, 7, "any", "drop", "foreign", { kind: "foreign", packets: null, bytes: null }),
  ];
  const read = { schema: "braid/v1", now: NOW, dpid: hex(1), name: "ams1", rules, truncated: true };
  const silent = { status: 504, title: "Gateway Timeout", code: "timeout", detail: "switch ams2 has not told its rules within 3 s" };
  return { ...rest, answers: { ...answers, [`/api/v1/switches/${hex(1)}/rules`]: read, [`/api/v1/switches/${hex(2)}/rules`]: silent } };
}

/** Amsterdam and Geneva with a link that loses frames: it is up, and one of two transfers still takes it. Another one has lost frames and recovered. */
export function lossy() {
  const { snapshot, answers } = office();
  const [ams1, ams2, gva1, gva2] = [1, 2, 3, 4].map(hex);
  const [at, to] = [{ dpid: ams1, port: 2 }, { dpid: gva1, port: 2 }];
  const [back, from] = [{ dpid: gva1, port: 3 }, { dpid: gva2, port: 3 }];
  const seen = (frames, lost, damaged, time_us) => ({ frames, lost, damaged, time_us });
  const [found, clean] = [seen(3101, 34, 12, 3.1e6), seen(30_120, 1, 0, 30e6)];
  const degraded = [[ams1, { since: 352 * SECOND, evidence: found, clean_since: 388 * SECOND, hold_us: 30e6 }], [gva1, { since: 355 * SECOND, evidence: seen(1900, 18, 0, 4.2e6), clean_since: 357 * SECOND, hold_us: 60e6 }]];
  const links = snapshot.links.map((it) => ({ ...it, ...(it.src.port === 2 ? Object.fromEntries(degraded.filter(([dpid]) => dpid === it.src.dpid).map(([, told]) => ["degraded", told])) : {}), ...(it.src.dpid === ams1 && it.src.port === 2 ? { load_bps: 2.1e6, loss: 0.0113 } : {}) }));
  const [first, second] = snapshot.transfers;
  const moved = { ...first, streams: first.streams.map((it) => (it.id === 11 ? { ...it, path: [ams1, ams2, gva2, gva1], sent_bps: 4.4e7 } : { ...it, sent_bps: 4.7e7 })) };
  const threat = (of, evidence) => ({ kind: "lossy_link", to: of, evidence });
  const alarm = (where, of, evidence, seconds) => ({ ...threat(of, evidence), at: where, text: `the link to ${of.dpid}:${of.port} loses frames, and is avoided until it is clean`, first_at: seconds * SECOND, last_at: seconds * SECOND, count: 1 });
  const told = (number, seconds, where, of, evidence) => ({ number, time: seconds * SECOND, level: "warning", notice: "alarm", at: where, count: 1, threat: threat(of, evidence), text: `alarm at ${where.dpid}:${where.port}: the link to ${of.dpid}:${of.port} loses frames, and is avoided until it is clean: ${evidence.lost} of ${evidence.frames} frames` });
  const events = [
    ...snapshot.events, told(30, 200, from, back, found),
    { number: 31, time: 260 * SECOND, level: "info", notice: "link_recovered", src: from, dst: back, evidence: clean, text: `link ${gva2}:3 > ${gva1}:3 has lost nothing for 30 s and is used again` },
    told(32, 352, at, to, found),
    { number: 33, time: 352.1 * SECOND, level: "info", notice: "stream_placed", id: 11, transfer: 1, path: moved.streams[0].path, shared_links: 1, text: `stream 11 of transfer 1 takes ${moved.streams[0].path.join(", ")}` },
    told(34, 355, to, at, degraded[1][1].evidence),
  ];
  const state = { ...snapshot, links, transfers: [moved, second], events };
  const alarms = [alarm(at, to, found, 352), alarm(to, at, degraded[1][1].evidence, 355), alarm(from, back, found, 200)];
  return { snapshot: state, deltas: growing(state), answers: { ...answers, "/api/v1/alarms": { schema: "braid/v1", now: NOW, alarms } } };
}

/** Amsterdam and Geneva with paths that GridFTP has set aside; a question for paths gets two, the second of which shares a link. */
export function reserved() {
  const { answers, ...office_ } = lossy();
  const [ams1, ams2, gva1, gva2] = [1, 2, 3, 4].map(hex);
  const names = new Map([[ams1, "ams1"], [ams2, "ams2"], [gva1, "gva1"], [gva2, "gva2"]]);
  const aside = (switches, available_bps, streams) => ({ switches, switch_names: switches.map((it) => names.get(it)), available_bps, round_trip_us: 840 * (switches.length - 1), streams, best_streams: 3.4 });
  const assignment = (id, owner, paths, more) => ({ id, owner, src: "10.0.1.1", dst: "10.0.1.2", distribution: "weight", requested_paths: 2, expected_streams: null, placed_streams: 6, opened_at: 210 * SECOND, expires_at: NOW + 95 * SECOND, paths, ...more });
  const port = (dpid, number) => ({ dpid, node: names.get(dpid), port: number });
  const link = (a, p, b, q) => ({ src: port(a, p), dst: port(b, q), parallel: false });
  const path = (links, rate_bps, shared_links) => ({ hops: links.length, cost: links.length, delay_us: 210 * links.length, rate_bps, shared_links, nodes: [links[0].src.node, ...links.map((it) => it.dst.node)], links });
  const end = (name, dpid) => ({ name, dpid, node: names.get(dpid), also_at: [] });
  const answer = (query) => ({
    schema: "braid/v1", now: NOW, src: end(query.get("src"), ams1), dst: end(query.get("dst"), gva1), mode: query.get("mode"), weight: query.get("weight"), k: Number(query.get("k")), complete: true, truncated: false,
    warnings: ["ams is attached to ams2 as well; paths from there are another query"], max_flow_bps: null, explanation: null,
    paths: [path([link(ams1, 3, ams2, 3), link(ams2, 2, gva2, 2), link(gva2, 3, gva1, 3)], 8.7e6, 0), path([link(ams1, 2, gva1, 2)], 9.7e7, 0)],
  });
  return {
    ...office_,
    answers: {
      ...answers,
      "/api/v1/assignments": { schema: "braid/v1", now: NOW, assignments: [assignment("6b1f0c2a9d4e7731", "gridftp", [aside([ams1, ams2, gva2, gva1], 8.7e6, 2), aside([ams1, gva1], 9.7e7, 4)]), assignment("aa10b2c3d4e5f607", "dtn@ams", [aside([ams2, gva2], 4.1e7, 1)], { src: "10.0.2.1", dst: "10.0.2.2", distribution: "round-robin" })] },
      "/api/v1/paths": answer,
    },
  };
}

/** Half a minute of a transfer that starts, which ends as the snapshot is. */
function growing({ transfers: [first, ...rest], ...snapshot }) {
  const at = (nth) => ({ ...first, streams: first.streams.map((it) => ({ ...it, sent_bps: Math.round(it.sent_bps * (nth === 30 ? 1 : Math.min(1, nth / 9) * (0.95 + 0.05 * Math.sin(nth)))) })) });
  return Array.from({ length: 30 }, (_, nth) => ({ schema: "braid/v1", now: snapshot.now + (nth + 1) * SECOND, transfers: { set: [at(nth + 1), ...rest], removed: [] } }));
}

function answersOf(snapshot, paths, cut) {
  const times = Array.from({ length: 300 }, (_, at) => NOW - (299 - at) * SECOND);
  const after = (time) => cut && time > 352 * SECOND;
  const wave = (time, nth) => (after(time) ? 4.5e7 : 9.3e7) + 3e6 * Math.sin(time / 7e9 + nth * 2);
  const streams = snapshot.transfers[0].streams.map((it, nth) => ({ ...it, path: paths[nth], sent_bps: times.map((time) => wave(time, nth)), received_bps: times.map((time) => wave(time, nth) / 50) }));
  const testbed = [["ams1", 2, "gva1", 2, !cut], ["ams2", 2, "gva2", 2, true], ["ams1", 3, "ams2", 3, true], ["gva1", 3, "gva2", 3, true]];
  const end = (name, port) => ({ name, at: { dpid: snapshot.switches.find((it) => it.name === name).dpid, port }, rate_bps: 1e8, delay_us: 0, loss: 0 });
  return {
    "/api/v1/transfers/history": { schema: "braid/v1", now: NOW, id: 1, step_s: 1, times, streams },
    "/api/v1/links/history": (query) => ({
      schema: "braid/v1", now: NOW, step_s: 1, times, load_bps: times.map((time) => wave(time, Number(query.get("port"))) * (query.get("dpid").endsWith("1") ? 1 : 0.02)),
      delay_us: times.map((time) => 380 + 90 * Math.sin(time / 5e9)), loss: times.map(() => 0),
    }),
    "/api/v1/testbed/links": { schema: "braid/v1", links: testbed.map(([a, p, b, q, up]) => ({ up, ends: [end(a, p), end(b, q)] })) },
    ...(cut ? {
      "/api/v1/alarms": { schema: "braid/v1", now: NOW, alarms: [{ kind: "forged_lldp", why: "wrong tag", at: { dpid: hex(2), port: 1 }, text: `forged discovery frames at ${hex(2)}:1: wrong tag`, first_at: NOW - 90e9, last_at: NOW - 12e9, count: 14 }] },
      "/api/v1/cluster": { schema: "braid/v1", now: NOW, name: "site", member: "a", leader: "a", newest_term: 3, term: 3, store_answers: true, members: ["a", "b", "c"].map((name) => ({ name, address: `10.9.1.${name}:8653`, last_heard: name === "c" ? NOW - 40e9 : NOW, ...(name === "b" && { switches_reached: 20, switches_relayed: 1, following: { lag_us: 12_000 } }) })) },
    } : {}),
  };
}

/** FatTree: pods of K/2 edges and K/2 aggregations, (K/2)² cores; hosts at some edges. */
export function fatTree(K) {
  const half = K / 2;
  const [edge, aggregation, core] = [(pod, i) => 1 + pod * K + i, (pod, i) => 1 + pod * K + half + i, (i) => 1 + K * K + i];
  const [links, names] = [[], new Map()];
  for (let i = 0; i < half * half; i += 1) names.set(core(i), `core${i + 1}`);
  for (let pod = 0; pod < K; pod += 1)
    for (let a = 0; a < half; a += 1) {
      names.set(edge(pod, a), `e${pod + 1}.${a + 1}`);
      names.set(aggregation(pod, a), `a${pod + 1}.${a + 1}`);
      for (let b = 0; b < half; b += 1) {
        links.push(...joined(hex(edge(pod, a)), 1 + b, hex(aggregation(pod, b)), 1 + a, ((pod * 7 + a * 3 + b) % 10) / 10, ((pod + b) % 5) / 10, 1e9));
        links.push(...joined(hex(aggregation(pod, a)), 1 + half + b, hex(core(a * half + b)), 1 + pod, ((pod * 5 + a + b * 2) % 10) / 10, ((a + b) % 4) / 10, 1e9));
      }
    }
  const hosts = Array.from({ length: K * half }, (_, at) => host(at + 1, hex(edge(at >> (half >> 1), at % half)), 9, [`10.0.${at >> 1}.${(at % 2) + 1}`], `h${at + 1}`));
  const path = (nth) => [edge(0, 0), aggregation(0, nth), core(nth * half), aggregation(K - 1, nth), edge(K - 1, 0)].map(hex);
  const last = hosts.find((it) => it.at.dpid === hex(edge(K - 1, 0)));
  const streams = [0, 1].map((nth) => stream(nth + 1, hosts[0].addresses[0], last?.addresses[0] ?? "10.9.9.9", path(nth), 4e8));
  const switches = [...names].map(([number, name]) => node(number, name, [[1, "eth1"], [2, "eth2"]]));
  return { snapshot: { ...base, switches, links, hosts, transfers: [{ id: 1, kind: "mptcp", opened_at: 0, streams }], events: [] } };
}

/** A member of a cluster that has led a while ago, and now stands by; one of four is away. */
export function standby() {
  const members = ["ams-a", "ams-b", "gva-a", "gva-b"].map((name, at) => ({ name, address: `10.9.1.${at + 1}:8653`, last_heard: [null, NOW - 80e6, NOW - 110e6, NOW - 95e9][at] }));
  const cluster = { schema: "braid/v1", now: NOW, name: "site", member: "ams-a", leader: "gva-a", newest_term: 18, term: 17, store_answers: true, members };
  return { ...nothing, answers: { "/api/v1/cluster": cluster }, headers: { "braid-state-age": "752.4" } };
}

export const nothing = { snapshot: { ...base, switches: [], links: [], hosts: [], transfers: [], events: [] } };

/** Two edges: one sprays over two paths, one of which is suspended, and the other one resequences. */
export function spraying() {
  const [west, east, core] = [1, 2, 3].map(hex);
  const times = Array.from({ length: 300 }, (_, at) => NOW - (299 - at) * SECOND);
  const wave = (most, nth) => times.map((time) => most * (0.8 + 0.2 * Math.sin(time / 9e9 + nth)));
  const path = (path, port, share, more) => ({ path, ports: [{ dpid: west, port }], read_at: NOW, state: "active", share, carried_bps: 9.4e7 * share, estimated_capacity_bps: 1e8, round_trip_us: 21_300, queue_us: 1_210, loss: 0, silences: 0, packets: 9e6, bytes: 8e9, ...more });
  const paths = [path([west, east], 2, 0.67, {}), path([west, core, east], 3, 0.33, { queue_us: 4_870, loss: 0.0007, silences: 2 }), path([west, core, east], 4, 0, { state: "suspended", loss: 0.061 })];
  const counters = { forwarded: 8e6, held: 2.1e6, gaps_filled: 181_220, gaps_passed: 12, gaps_timed_out: 3, gaps_over_threshold: 0, gaps_overflowed: 0, gaps_ended: 4, spurious: 2, old: 0, stray: 0, unknown: 0 };
  const order = { group: 9, from: west, host: "52:54:00:00:01:02", port: 1, read_at: NOW, counters, held: { packets: 62, bytes: 94_000, max_bytes: 4e6, flows: 1, max_flow_bytes: 2e6, max_hold_us: 60_000, max_packets: 4000 }, hold_time: { packets: 4000, p50_us: 3_120, p99_us: 8_870, max_us: 11_400 } };
  const past = paths.map((it, nth) => ({ path: it.path, ports: it.ports, carried_bps: wave(it.carried_bps, nth), loss: wave(it.loss, nth), queue_us: wave(it.queue_us, nth), round_trip_us: wave(it.round_trip_us, nth), share: times.map(() => it.share) }));
  const held = { group: 9, from: west, host: order.host, held_bytes: wave(94_000, 0), held_packets: wave(62, 0), hold_time_p50_us: wave(3_120, 1), hold_time_p99_us: wave(8_870, 2), hold_time_max_us: wave(11_400, 3) };
  const history = (dpid) => ({ schema: "braid/v1", now: NOW, step_s: 1, times, dpid, spray_groups: dpid === west ? [{ group: 7, to: east, paths: past }] : [], resequencers: dpid === east ? [held] : [] });
  const one = { ...stream(1, "10.0.0.1", "10.0.0.2", [], 9.4e7), spray_paths: paths.slice(0, 2).map(({ path, ports }) => ({ path, ports, rate_bps: 5e7, delay_us: 10_000 })) };
  const snapshot = {
    ...base, events: [],
    switches: [node(1, "west", [[1, "west-left", "host"], [2, "west-east"], [3, "west-core"], [4, "west-core2"]]), node(2, "east", [[1, "east-right", "host"], [2, "east-west"], [3, "east-core"]]), node(3, "core", [[1, "core-west"], [2, "core-east"], [3, "core-west2"]])],
    links: [joined(west, 2, east, 2, 0.63, 0.02), joined(west, 3, core, 1, 0.31, 0.01), joined(core, 2, east, 3, 0.31, 0.01), joined(west, 4, core, 3, 0, 0)].flat(),
    hosts: [host(1, west, 1, ["10.0.0.1"], "left"), host(2, east, 1, ["10.0.0.2"], "right")],
    edges: [{ dpid: west, answered_at: NOW, spray_groups: [{ group: 7, to: east, paths }], resequencers: [] }, { dpid: east, answered_at: NOW, spray_groups: [], resequencers: [order] }],
    transfers: [{ id: 1, kind: "spray", opened_at: 20 * SECOND, streams: [one] }],
  };
  const answers = { "/api/v1/edges/history": (query) => history(query.get("dpid")), "/api/v1/transfers/history": { schema: "braid/v1", now: NOW, id: 1, step_s: 1, times, streams: [{ ...one, sent_bps: wave(9.4e7, 0), received_bps: wave(1e6, 0) }] } };
  return { snapshot, answers };
}
