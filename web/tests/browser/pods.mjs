// A network of pods as large as is asked for, and of it what the controller's stream has: all switches, the first links by
// port, the first hosts by address and the first transfers. What changes each second is written down beforehand, so that the
// server takes no time from the browser.

/** As in `daemons/controller/src/http/live/state.rs`. */
const [MAX_LINKS, MAX_HOSTS, MAX_TRANSFERS] = [8_192, 8_192, 1_024];
/** A pod has 36 edges below 4 aggregations, and each of these 4 cores above it. */
const [EDGES, AGGREGATIONS, UPLINKS] = [36, 4, 4];
const POD = EDGES + AGGREGATIONS;
const CORES = AGGREGATIONS * UPLINKS;
const HOSTS_PER_SWITCH = 10;
/** Directed links that change each second, and seconds after which all is as before. */
const [CHANGING, SECONDS] = [4_000, 8];
const SECOND = 1e9;

const hex = (number, digits = 16) => number.toString(16).padStart(digits, "0");
/** From 0 to 1, much the same from second to second. */
const wobble = (seed, second) => 0.5 + 0.5 * Math.sin(seed * 1.7 + (second * 2 * Math.PI) / SECONDS);

/** Numbers of switches and ports, and the directed links in their order. */
function wire(pods) {
  const edge = (pod, at) => 1 + CORES + pod * POD + at;
  const aggregation = (pod, at) => edge(pod, EDGES + at);
  const pairs = [];
  for (let pod = 0; pod < pods; pod += 1)
    for (let a = 0; a < AGGREGATIONS; a += 1) {
      for (let e = 0; e < EDGES; e += 1) pairs.push([edge(pod, e), 1 + a, aggregation(pod, a), 1 + UPLINKS + e]);
      for (let u = 0; u < UPLINKS; u += 1) pairs.push([aggregation(pod, a), 1 + u, 1 + a * UPLINKS + u, 1 + pod]);
    }
  const directed = pairs.flatMap(([a, p, b, q]) => [[a, p, b, q], [b, q, a, p]]);
  return { edge, aggregation, links: directed.sort((one, other) => one[0] - other[0] || one[1] - other[1]) };
}

function switches(pods, links, hosts) {
  const count = CORES + pods * POD;
  const used = Array.from({ length: count + 1 }, () => []);
  for (const [dpid, port] of links) used[dpid].push([port, "link"]);
  for (const { at } of hosts) used[parseInt(at.dpid, 16)].push([at.port, "host"]);
  return Array.from({ length: count }, (_, nth) => {
    const [at, pod] = [nth + 1, Math.floor((nth - CORES) / POD)];
    const ports = used[at].map(([port, role]) => ({ port, name: `eth${port}`, up: true, role }));
    const group = pod < 0 ? "core" : `pod${pod + 1}`;
    return { dpid: hex(at), role: "master", ports, address: `10.255.${at >> 8}.${at & 255}:40000`, name: pod < 0 ? `core${at}` : `${group}s${1 + ((nth - CORES) % POD)}`, group, position: null };
  });
}

function hosts(pods, edge) {
  const [count, edges] = [(CORES + pods * POD) * HOSTS_PER_SWITCH, pods * EDGES];
  return Array.from({ length: count }, (_, nth) => {
    const [place, at] = [Math.floor((nth * edges) / count), `10.${nth >> 16}.${(nth >> 8) & 255}.${nth & 255}`];
    const dpid = hex(edge(Math.floor(place / EDGES), place % EDGES));
    const port = 1 + AGGREGATIONS + (nth - Math.ceil((place * count) / edges));
    return { mac: `02:00:${hex(nth, 8).replace(/(..)(?=.)/g, "$1:")}`, name: null, host: at, at: { dpid, port }, at_name: `eth${port}`, addresses: [at], last_seen: nth };
  });
}

function transfers(edge, aggregation, all, second) {
  const count = Math.min(MAX_TRANSFERS, all.length >> 1);
  return Array.from({ length: count }, (_, nth) => {
    const [src, dst] = [all[(nth * 7) % all.length], all[(nth * 7 + Math.max(1, Math.floor(all.length / 3))) % all.length]];
    const podOf = (it) => Math.floor((parseInt(it.at.dpid, 16) - 1 - CORES) / POD);
    const stream = (at) => {
      const up = (nth + at) % AGGREGATIONS;
      const path = [src.at.dpid, hex(aggregation(podOf(src), up)), hex(1 + up * UPLINKS + (nth % UPLINKS)), hex(aggregation(podOf(dst), up)), dst.at.dpid];
      const rate = Math.round(2e8 * wobble(nth + at, second));
      return { id: nth * 2 + at, src: src.addresses[0], dst: dst.addresses[0], src_port: 40000 + nth, dst_port: 5201, path, bytes_sent: 1000 * (count - nth) * (1 + second), bytes_received: 1, sent_bps: rate, received_bps: 0 };
    };
    return { id: nth + 1, kind: "mptcp", opened_at: 0, streams: [stream(0), stream(1)] };
  });
}

function link([a, p, b, q], second) {
  const load = Math.round(1e9 * wobble(a * 7 + p, second));
  return {
    src: { dpid: hex(a), port: p }, dst: { dpid: hex(b), port: q }, src_name: `eth${p}`, dst_name: `eth${q}`, capacity_bps: 1e9, measured_capacity_bps: null,
    measured_capacity_at: null, delay_us: { base: 100, current: 100 + 50 * wobble(a, second), p50: 120, p99: 150 }, delay_at: second * SECOND, load_bps: load,
    available_bps: 1e9 - load, load_at: second * SECOND, loss: 0, loss_at: second * SECOND, counters: { bytes: second, packets: second, dropped: 0, errors: 0 },
  };
}

/** At least `wanted` switches. What a message says in second `at`, by the time `now`. */
export function pods(wanted) {
  const count = Math.max(3, Math.ceil((wanted - CORES) / POD));
  const { edge, aggregation, links } = wire(count);
  const every = hosts(count, edge);
  const [told, seen] = [links.slice(0, MAX_LINKS), every.slice(0, MAX_HOSTS)];
  const totals = { switches: CORES + count * POD, links: links.length, hosts: every.length };
  const first = JSON.stringify({
    switches: switches(count, links, every), links: told.map((it) => link(it, 0)), hosts: seen, edges: [], transfers: transfers(edge, aggregation, seen, 0), lost_links: [], events: [], totals,
  });
  const set = (items) => ({ set: items, removed: [] });
  const later = Array.from({ length: SECONDS }, (_, second) => {
    const some = told.slice((second * CHANGING) % told.length).slice(0, CHANGING);
    return JSON.stringify({ links: set(some.map((it) => link(it, second))), transfers: set(transfers(edge, aggregation, seen, second)), hosts: set(seen.filter((_, at) => at % 64 === second)) });
  });
  const message = (text, now) => `{"schema":"braid/v1","now":${now},${text.slice(1)}`;
  return {
    ...totals, every, shown: { links: told.length, hosts: seen.length }, groups: count + 1,
    snapshot: (now) => message(first, now),
    delta: (now, at) => message(later[at % SECONDS], now),
    history: transfers(edge, aggregation, seen, 0)[0],
  };
}
