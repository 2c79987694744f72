/** Events as marks beside a plot. */
import type { Event, Transfer, TransferHistory } from "./api";
import { lossWords, ofEvent } from "./degraded";
import { named, switchName } from "./names";
import { pathsOf, type View } from "./view";

export type MarkKind = "down" | "up" | "moved" | "lossy" | "failed";
export interface Moment {
  time: number;
  kind: MarkKind;
  text: string;
}
/** Moments that are too near each other to be drawn apart. */
export interface Mark {
  time: number;
  kind: MarkKind;
  texts: string[];
}

/** The worst of a group names it. */
const ORDER: readonly MarkKind[] = ["failed", "down", "lossy", "moved", "up"];

/** What changed in the network: links and switches that went and came, links that lose frames, streams that were moved, alarms. */
export function networkMoments(view: View): Moment[] {
  return moments(view, view.events, () => true);
}

/** What changed for one transfer: cuts and losses of links that its streams took, and streams that took another path. */
export function transferMoments(view: View, transfer: Transfer): Moment[] {
  const streams = new Set(transfer.streams.map((it) => it.id));
  const own = (event: Event) => ("id" in event && "transfer" in event ? event.transfer === transfer.id : "id" in event && streams.has(event.id));
  const hops = new Set<string>();
  const add = (path: readonly string[]) => path.slice(1).forEach((to, at) => hops.add(pair(path[at] as string, to)));
  transfer.streams.flatMap(pathsOf).forEach(add);
  for (const event of view.events) {
    if (event.notice === "stream_placed" && own(event)) add(event.path);
    if (event.notice === "stream_sprayed" && own(event)) event.paths.forEach((it) => add(it.path));
  }
  const since = (event: Event) => event.time >= transfer.opened_at;
  const ends = (event: Event) => ofEvent(event) ?? ("src" in event && "dst" in event ? event : null);
  const concerns = (event: Event) => {
    const link = ends(event);
    return link ? hops.has(pair(link.src.dpid, link.dst.dpid)) : own(event);
  };
  return moments(view, view.events, (event) => since(event) && concerns(event));
}

const pair = (a: string, b: string): string => [a, b].sort().join(" ");

function moments(view: View, events: readonly Event[], concerns: (event: Event) => boolean): Moment[] {
  const placed = new Set<number>();
  const found: Moment[] = [];
  for (const event of events) {
    // The first path of a stream is no change.
    const again = (event.notice === "stream_placed" || event.notice === "stream_sprayed") && placed.has(event.id);
    if (event.notice === "stream_placed" || event.notice === "stream_sprayed") placed.add(event.id);
    const kind = kindOf(event, again);
    if (kind && concerns(event)) found.push({ time: event.time, kind, text: words(view, event) });
  }
  return found;
}

function kindOf(event: Event, again: boolean): MarkKind | null {
  switch (event.notice) {
    case "link_down":
    case "switch_left":
      return "down";
    case "link_up":
    case "link_recovered":
      return "up";
    case "stream_rebalanced":
      return "moved";
    case "stream_placed":
    case "stream_sprayed":
      return again ? "moved" : null;
    case "alarm":
      return ofEvent(event) ? "lossy" : "failed";
    case "install_failed":
    case "table_full":
      return "failed";
    default:
      return null;
  }
}

/** Both directions of a link read the same, so that they are one line. */
function words(view: View, event: Event): string {
  if (event.notice !== "link_down" && event.notice !== "link_up") return lossWords(view, event) ?? named(view, event.text);
  const ends = [event.src.dpid, event.dst.dpid].map((it) => switchName(view, it)).sort().join(" – ");
  const why = event.notice === "link_down" ? (/is down: (.*)$/.exec(event.text)?.[1] ?? event.why) : "";
  return `link ${ends} is ${event.notice === "link_up" ? "up" : `down: ${why}`}`;
}

/** Moments from `start` on, those within `gap` of the first of a group together. */
export function grouped(moments: readonly Moment[], start: number, gap: number): Mark[] {
  const marks: Mark[] = [];
  for (const { time, kind, text } of moments) {
    if (time < start) continue;
    const last = marks.at(-1);
    if (last && time - last.time <= gap) {
      if (!last.texts.includes(text)) last.texts.push(text);
      if (ORDER.indexOf(kind) < ORDER.indexOf(last.kind)) last.kind = kind;
    } else marks.push({ time, kind, texts: [text] });
  }
  return marks;
}

/** The marks of a transfer while its history lasts, in seconds before its end. */
export function between(view: View, transfer: Transfer | undefined, history: TransferHistory | null): { x: number; mark: Mark }[] {
  const [start, end] = [history?.times[0], history?.times.at(-1)];
  if (!transfer || start === undefined || end === undefined) return [];
  const gap = Math.max(2e9, (end - start) / 60);
  return grouped(transferMoments(view, transfer), start, gap)
    .filter((it) => it.time <= end)
    .map((mark) => ({ x: (mark.time - end) / 1e9, mark }));
}
