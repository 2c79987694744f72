/** Export of the shown data to files. */
import type { TransferHistory } from "./api";
import { streamColour } from "./colours";
import { endpoint, rate } from "./format";
import { stack } from "./throughput";
import { portName, rateOf, type View } from "./view";

type Cell = string | number | null | undefined;

/** RFC 4180. What a spreadsheet would take for a formula begins with a quotation mark. */
export function csv(rows: readonly (readonly Cell[])[]): string {
  const cell = (value: Cell): string => {
    const text = value == null ? "" : String(value);
    const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

export function linksCsv(view: View): string {
  const head = ["from", "to", "capacity_bps", "load_bps", "delay_base_us", "delay_us", "delay_p50_us", "delay_p99_us", "loss", "up", "degraded"];
  const rows = [...view.links.values()].map((it) => [
    portName(it.src), portName(it.dst), it.capacity_bps, it.load_bps, it.delay_us?.base, it.delay_us?.current, it.delay_us?.p50, it.delay_us?.p99, it.loss, 1, it.degraded ? 1 : 0,
  ]);
  const failed = [...view.failed.values()].map((it) => [portName(it.src), portName(it.dst), it.capacity_bps, ,,,,,, 0, 0]);
  return csv([head, ...rows, ...failed]);
}

export function transfersCsv(view: View): string {
  const head = ["transfer", "kind", "stream", "from", "to", "path", "bytes_sent", "bytes_received", "bps"];
  const rows = [...view.transfers.values()].flatMap((transfer) =>
    transfer.streams.map((it) => [
      transfer.id, transfer.kind, it.id, endpoint(it.src, it.src_port), endpoint(it.dst, it.dst_port), it.path.join(" "),
      it.bytes_sent, it.bytes_received, rateOf(it),
    ]),
  );
  return csv([head, ...rows]);
}

export function edgesCsv(view: View): string {
  const head = ["edge", "to", "path", "state", "share", "carried_bps", "estimated_capacity_bps", "round_trip_us", "queue_us", "loss", "silences", "packets", "bytes"];
  const rows = [...view.edges.values()].flatMap((edge) =>
    edge.spray_groups.flatMap((group) =>
      group.paths.map((it) => [
        edge.dpid, group.to, it.ports.map(portName).join(" "), it.state, it.share, it.carried_bps, it.estimated_capacity_bps, it.round_trip_us,
        it.queue_us, it.loss, it.silences, it.packets, it.bytes,
      ]),
    ),
  );
  return csv([head, ...rows]);
}

export function eventsCsv(view: View): string {
  return csv([["seconds", "level", "notice", "text"], ...view.events.map((it) => [it.time / 1e9, it.level, it.notice, it.text])]);
}

export function throughputCsv(history: TransferHistory): string {
  const head = history.streams.flatMap((it) => {
    const name = `${endpoint(it.src, it.src_port)} > ${endpoint(it.dst, it.dst_port)}`;
    return [`${name} sent_bps`, `${name} received_bps`];
  });
  const rows = history.times.map((time, at) => [
    time / 1e9, ...history.streams.flatMap((it) => [it.sent_bps[at], it.received_bps[at]]),
  ]);
  return csv([["seconds", ...head], ...rows]);
}

export function stateJson(view: View): string {
  const lists = Object.fromEntries(
    (["switches", "links", "hosts", "edges", "transfers"] as const).map((name) => [name, [...view[name].values()]]),
  );
  return `${JSON.stringify({ schema: "braid/v1", now: view.now, ...lists, events: view.events }, null, 1)}\n`;
}

const escape = (text: string): string =>
  text.replace(/[&<>"']/g, (it) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[it] ?? it);

const [WIDTH, HEIGHT, LEFT, TOP, BOTTOM] = [800, 400, 90, 20, 70];

/** The stacked throughput as a picture. */
export function throughputSvg(history: TransferHistory, limit: number | null): string {
  const [seconds, ...sums] = stack(history) as [number[], ...(number | null)[][]];
  const top = Math.max(1e4, limit ?? 0, ...sums.flat().map((it) => it ?? 0)) * 1.05;
  const [first, span] = [seconds[0] ?? 0, Math.max(1, -(seconds[0] ?? 0))];
  const x = (at: number) => LEFT + ((at - first) / span) * (WIDTH - LEFT - 20);
  const y = (value: number) => HEIGHT - BOTTOM - (value / top) * (HEIGHT - TOP - BOTTOM);
  const line = (value: number, attributes: string) =>
    `<line x1="${LEFT}" x2="${WIDTH - 20}" y1="${y(value).toFixed(1)}" y2="${y(value).toFixed(1)}" ${attributes}/>`;
  const areas = sums.map((sum, at) => {
    const points = sum.map((value, index) => `${x(seconds[index] ?? 0).toFixed(1)},${y(value ?? 0).toFixed(1)}`);
    const base = `${x(0).toFixed(1)},${y(0)} ${x(first).toFixed(1)},${y(0)}`;
    return `<polygon fill="${streamColour(sums.length - 1 - at)}" points="${points.join(" ")} ${base}"/>`;
  });
  const ticks = [0, 0.25, 0.5, 0.75, 1].map(
    (part) => `${line(part * top, 'stroke="#8884"')}<text x="${LEFT - 8}" y="${y(part * top) + 4}" text-anchor="end">${rate(part * top)}</text>`,
  );
  const key = history.streams.map((it, at) => {
    const [left, above] = [LEFT + (at % 2) * 340, HEIGHT - BOTTOM + 30 + Math.floor(at / 2) * 16];
    const name = `${endpoint(it.src, it.src_port)} > ${endpoint(it.dst, it.dst_port)}`;
    return `<rect x="${left}" y="${above - 8}" width="18" height="5" fill="${streamColour(at)}"/><text x="${left + 24}" y="${above}">${escape(name)}</text>`;
  });
  const more = Math.max(0, Math.ceil(history.streams.length / 2) - 2) * 16;
  const dashed = limit === null ? "" : line(limit, 'stroke="#222" stroke-width="1.5" stroke-dasharray="8 6"');
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT + more}" font-family="sans-serif" font-size="12">` +
    `<rect width="100%" height="100%" fill="#fff"/>${ticks.join("")}${areas.join("")}${dashed}${key.join("")}` +
    `<text x="${LEFT}" y="${HEIGHT - BOTTOM + 14}">${first.toFixed(0)} s</text>` +
    `<text x="${WIDTH - 20}" y="${HEIGHT - BOTTOM + 14}" text-anchor="end">0 s</text></svg>\n`
  );
}
