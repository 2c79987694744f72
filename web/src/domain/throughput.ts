import type { TransferHistory } from "./api";
import type { Direction } from "./view";

/** What is shown of a transfer. */
export const WINDOW_S = 300;

type Values = (number | null)[];

/** The history with what came since, no longer than what is shown. */
export function merge(before: TransferHistory | null, next: TransferHistory): TransferHistory {
  if (before === null || before.id !== next.id) return cut(next);
  const last = before.times.at(-1) ?? -1;
  // A controller that was started anew counts from 0.
  if (next.now < last) return cut(next);
  const fresh = next.times.findIndex((time) => time > last);
  if (fresh < 0) return before;
  const known = new Map(before.streams.map((stream) => [stream.id, stream]));
  const nothing: Values = before.times.map(() => null);
  const streams = next.streams.map((stream) => ({
    ...stream,
    sent_bps: [...(known.get(stream.id)?.sent_bps ?? nothing), ...stream.sent_bps.slice(fresh)],
    received_bps: [...(known.get(stream.id)?.received_bps ?? nothing), ...stream.received_bps.slice(fresh)],
  }));
  return cut({ ...next, times: [...before.times, ...next.times.slice(fresh)], streams });
}

function cut(history: TransferHistory): TransferHistory {
  const last = (values: Values) => values.slice(-WINDOW_S);
  const streams = history.streams.map((stream) => ({
    ...stream,
    sent_bps: last(stream.sent_bps),
    received_bps: last(stream.received_bps),
  }));
  return { ...history, times: history.times.slice(-WINDOW_S), streams };
}

/** The direction in which most was carried. */
export function direction(history: TransferHistory): Direction {
  const sum = (of: "sent_bps" | "received_bps") => history.streams.flatMap((it) => it[of]).reduce<number>((sum, it) => sum + (it ?? 0), 0);
  return sum("received_bps") > sum("sent_bps") ? "received" : "sent";
}

/** Seconds before the last reading, then, of the direction in which most was carried, the sums of the streams from the whole stack down to the first stream alone. */
export function stack(history: TransferHistory): [number[], ...Values[]] {
  const end = history.times.at(-1) ?? 0;
  const seconds = history.times.map((time) => (time - end) / 1e9);
  const values = direction(history) === "sent" ? "sent_bps" : "received_bps";
  const sums: Values[] = [];
  for (const stream of history.streams) {
    const below = sums.at(-1);
    sums.push(
      stream[values].map((own, at) => {
        const base = below?.[at] ?? null;
        return own === null && base === null ? null : (own ?? 0) + (base ?? 0);
      }),
    );
  }
  return [seconds, ...sums.reverse()];
}

/** What the paths of a transfer could carry from a time on. */
export interface Limit {
  time: number;
  bps: number | null;
}

/** Whether more was sent than the paths could carry: streams are counted where they enter the network, before a full link drops packets. */
export function exceeds(history: TransferHistory, limits: readonly Limit[]): boolean {
  const [, whole] = stack(history);
  return history.times.some((time, at) => {
    const bps = limits.findLast((it) => it.time <= time)?.bps;
    return bps != null && (whole?.[at] ?? 0) > bps * 1.02;
  });
}

/** The limits with the present one; those of a time that is yet to come are gone. */
export function limited(before: readonly Limit[], now: Limit): readonly Limit[] {
  const known = before.filter((it) => it.time <= now.time);
  return known.length > 0 && known.at(-1)?.bps === now.bps ? known : [...known, now];
}
