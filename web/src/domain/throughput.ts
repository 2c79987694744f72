import type { Event, TransferHistory } from "./api";

/** What is shown of a transfer. */
export const WINDOW_S = 300;

type Values = (number | null)[];

/** The history with what came since, no longer than what is shown. */
export function merge(before: TransferHistory | null, next: TransferHistory): TransferHistory {
  if (before === null || before.id !== next.id) return cut(next);
  const last = before.times.at(-1) ?? -1;
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

/** Seconds before the last reading, then the sums of the streams from the whole stack down to the first stream alone. */
export function stack(history: TransferHistory): [number[], ...Values[]] {
  const end = history.times.at(-1) ?? 0;
  const seconds = history.times.map((time) => (time - end) / 1e9);
  const sums: Values[] = [];
  for (const stream of history.streams) {
    const below = sums.at(-1);
    sums.push(
      stream.sent_bps.map((sent, at) => {
        const received = stream.received_bps[at] ?? null;
        const own = sent === null && received === null ? null : (sent ?? 0) + (received ?? 0);
        const base = below?.[at] ?? null;
        return own === null && base === null ? null : (own ?? 0) + (base ?? 0);
      }),
    );
  }
  return [seconds, ...sums.reverse()];
}

const MARKED = new Set(["link_down", "link_up", "stream_placed", "stream_sprayed", "stream_rebalanced", "stream_ended", "install_failed"]);

/** What happened while the history lasts, in seconds before its end. */
export function between(events: readonly Event[], history: TransferHistory | null): { x: number; text: string }[] {
  const [start, end] = [history?.times[0], history?.times.at(-1)];
  if (start === undefined || end === undefined) return [];
  return events
    .filter((event) => MARKED.has(event.notice) && event.time >= start && event.time <= end)
    .map((event) => ({ x: (event.time - end) / 1e9, text: event.text }));
}
