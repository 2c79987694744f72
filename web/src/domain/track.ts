/** What a time line is drawn from: the throughput of all transfers, and how many links were down or lost frames. */
import { lossy } from "./degraded";
import { throughputOf, type View } from "./view";

export interface Reading {
  time: number;
  bps: number;
  failed: number;
  lossy: number;
}

/** Readings that are kept; of more, every second one of the older half goes. */
const MAX_READINGS = 2400;

export const readingOf = (view: View): Reading => ({
  time: view.now,
  bps: [...view.transfers.values()].reduce((sum, it) => sum + throughputOf(it), 0),
  failed: view.failed.size,
  lossy: lossy([...view.links.values()]).length,
});

/** The readings with the next; those of a controller that was started anew begin anew. */
export function track(before: readonly Reading[], view: View): readonly Reading[] {
  const last = before.at(-1);
  if (last && view.now === last.time) return before;
  if (last && view.now < last.time) return [readingOf(view)];
  const kept = before.length < MAX_READINGS ? before : thin(before);
  return [...kept, readingOf(view)];
}

function thin(all: readonly Reading[]): readonly Reading[] {
  const half = all.length >> 1;
  return [...all.slice(0, half).filter((_, at) => at % 2 === 0), ...all.slice(half)];
}

/** The outline of the throughput in a box, as the `d` of an SVG path. */
export function outline(readings: readonly Reading[], start: number, end: number, width: number, height: number): string {
  const top = Math.max(1, ...readings.map((it) => it.bps));
  const x = (time: number) => (((time - start) / Math.max(1, end - start)) * width).toFixed(1);
  const y = (bps: number) => (height - (bps / top) * height).toFixed(1);
  const shown = readings.filter((it) => it.time >= start && it.time <= end);
  const [first, last] = [shown[0], shown.at(-1)];
  if (!first || !last) return "";
  return `M${x(first.time)} ${height}${shown.map((it) => `L${x(it.time)} ${y(it.bps)}`).join("")}L${x(last.time)} ${height}Z`;
}

/** Spans of time in which a link was down, or one lost frames. */
export function outages(readings: readonly Reading[], of: "failed" | "lossy" = "failed"): { from: number; to: number }[] {
  const spans: { from: number; to: number }[] = [];
  let open: number | null = null;
  for (const { time, [of]: links } of readings) {
    if (links > 0 && open === null) open = time;
    if (links === 0 && open !== null) {
      spans.push({ from: open, to: time });
      open = null;
    }
  }
  if (open !== null) spans.push({ from: open, to: readings.at(-1)?.time ?? open });
  return spans;
}
