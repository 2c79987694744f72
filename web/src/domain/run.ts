/** A run as it was followed, so that it can be saved, and opened again without a controller. */
import type { Delta, EdgeHistory, Event, LinkHistory, Snapshot, Time, TransferHistory } from "./api";
import { extend } from "./edges";
import { WINDOW_S } from "./throughput";
import { track, type Reading } from "./track";
import { empty, fromSnapshot, toSnapshot, withDelta, withEvent, type View } from "./view";

/** What the controller sent. */
export type Message =
  | { event: "snapshot"; data: Snapshot }
  | { event: "delta"; data: Delta }
  | { event: "event"; data: Event };

export const apply = (view: View, message: Message): View => {
  if (message.event === "snapshot") return fromSnapshot(message.data);
  return message.event === "delta" ? withDelta(view, message.data) : withEvent(view, message.data);
};

/** Characters of messages that are kept; of more, the oldest become part of where the run begins. */
const MAX_KEPT = 32 << 20;
/** Characters of a file that is opened. */
const MAX_FILE = 128 << 20;

/** Where a run may begin: after so many of the messages that are kept, and characters of them. */
interface Milestone {
  view: View;
  messages: number;
  size: number;
}

/** Keeps what is heard. */
export class Recorder {
  #base: View = empty;
  #kept: { name: Message["event"]; text: string }[] = [];
  #size = 0;
  #next: Milestone | null = null;
  /** When the controller started, in milliseconds since 1970. */
  startedAt: number | null = null;

  constructor(private readonly most: number = MAX_KEPT) {}

  /** A message, and the network as it is after that. */
  add(name: Message["event"], text: string, view: View): void {
    // What was before does not lead here: a controller that was started anew begins with another snapshot.
    if (name === "snapshot") [this.#base, this.#kept, this.#size, this.#next] = [empty, [], 0, null];
    this.#kept.push({ name, text });
    this.#size += text.length;
    if (this.#size > this.most && this.#next) this.#begin(this.#next);
    // Half of what is kept goes at once, so that nothing is read again.
    if (this.#size > this.most / 2) this.#next ??= { view, messages: this.#kept.length, size: this.#size };
  }

  #begin({ view, messages, size }: Milestone): void {
    this.#base = view;
    this.#kept.splice(0, messages);
    this.#size -= size;
    this.#next = null;
  }

  /** The run as a file. */
  save(): string {
    const first = this.#base === empty ? [] : [`{"event":"snapshot","data":${JSON.stringify(toSnapshot(this.#base))}}`];
    const rest = this.#kept.map(({ name, text }) => `{"event":"${name}","data":${text}}`);
    const started = this.startedAt === null ? "" : `"started_at_ms":${Math.round(this.startedAt)},`;
    return `{"schema":"braid/v1",${started}"run":[\n${[...first, ...rest].join(",\n")}\n]}\n`;
  }
}

/** A run that was saved. */
export class Run {
  readonly #messages: readonly Message[];
  readonly #times: readonly Time[];
  #last: { index: number; view: View } = { index: 0, view: empty };

  /** Its throughput from start to end. */
  readonly readings: readonly Reading[];
  /** How it ended. */
  readonly last: View;

  private constructor(messages: readonly Message[], private readonly startedAt: number | null) {
    this.#messages = messages;
    let now = 0;
    this.#times = messages.map((it) => (now = Math.max(now, it.event === "event" ? it.data.time : it.data.now)));
    let view = empty;
    let readings: readonly Reading[] = [];
    for (const it of messages) {
      view = apply(view, it);
      if (it.event !== "event") readings = track(readings, view);
    }
    this.#last = { index: messages.length, view };
    this.last = { ...view, startedAt };
    this.readings = readings;
  }

  /** Reads a file; what is wrong with one that is none is thrown, in words. */
  static open(text: string): Run {
    if (text.length > MAX_FILE) throw new Error("it is larger than any run that is saved");
    const file = parse(text);
    if (file?.schema !== "braid/v1" || !Array.isArray(file.run)) throw new Error("it is no run that was saved here");
    if ((file.run[0] as Message | undefined)?.event !== "snapshot") throw new Error("it does not begin with a snapshot");
    const started = typeof file.started_at_ms === "number" ? file.started_at_ms : null;
    // A run that cannot be replayed to its end is not started.
    try {
      return new Run(file.run as Message[], started);
    } catch {
      throw new Error("what it says does not fit together");
    }
  }

  get start(): Time {
    return this.#times[0] ?? 0;
  }

  get end(): Time {
    return this.#times.at(-1) ?? 0;
  }

  /** The network as it was. */
  at(time: Time): View {
    let { index, view } = this.#last;
    if (index > 0 && (this.#times[index - 1] ?? 0) > time) [index, view] = [0, empty];
    for (; index < this.#messages.length && (index === 0 || (this.#times[index] ?? 0) <= time); index += 1)
      view = apply(view, this.#messages[index] as Message);
    this.#last = { index, view };
    return { ...view, now: Math.max(view.now, Math.min(time, this.end)), startedAt: this.startedAt };
  }

  /** What an edge told until then. */
  edgeHistory(dpid: string, until: Time): EdgeHistory | null {
    let history: EdgeHistory | null = null;
    let view = empty;
    for (const [index, message] of this.#messages.entries()) {
      if ((this.#times[index] ?? 0) > until) break;
      view = apply(view, message);
      const edge = view.edges.get(dpid);
      if (edge && message.event !== "event" && view.now >= until - WINDOW_S * 1e9) history = extend(history, edge, view.now);
    }
    return history;
  }

  /** What was measured of the link that leaves a port until then. */
  linkHistory(port: string, until: Time): LinkHistory | null {
    const history: LinkHistory = { schema: "braid/v1", now: until, step_s: 1, times: [], load_bps: [], delay_us: [], loss: [] };
    let view = empty;
    for (const [index, message] of this.#messages.entries()) {
      if ((this.#times[index] ?? 0) > until) break;
      view = apply(view, message);
      if (message.event === "event" || view.now < until - WINDOW_S * 1e9) continue;
      const link = view.links.get(port);
      history.times.push(view.now);
      history.load_bps.push(link?.load_bps ?? null);
      history.delay_us.push(link?.delay_us?.current ?? null);
      history.loss.push(link?.loss ?? null);
    }
    return history.times.length > 0 ? history : null;
  }

  /** What the streams of a transfer carried until then. */
  history(id: string, until: Time): TransferHistory | null {
    const streams = new Map<number, TransferHistory["streams"][number]>();
    const times: Time[] = [];
    let view = empty;
    for (const [index, message] of this.#messages.entries()) {
      if ((this.#times[index] ?? 0) > until) break;
      view = apply(view, message);
      if (message.event === "event" || view.now < until - WINDOW_S * 1e9) continue;
      for (const stream of view.transfers.get(id)?.streams ?? []) {
        const { bytes_sent: _, bytes_received: __, spray_paths: ___, ...rest } = stream;
        const known = streams.get(stream.id) ?? { ...rest, sent_bps: [], received_bps: [] };
        const pad = (values: (number | null)[]) => [...values, ...Array(times.length - values.length).fill(null)];
        const [sent_bps, received_bps] = [pad(known.sent_bps), pad(known.received_bps)];
        sent_bps.push(stream.sent_bps);
        received_bps.push(stream.received_bps);
        streams.set(stream.id, { ...rest, sent_bps, received_bps });
      }
      times.push(view.now);
    }
    if (streams.size === 0) return null;
    const fill = (values: (number | null)[]) => [...values, ...Array(times.length - values.length).fill(null)];
    const filled = [...streams.values()].map((it) => ({
      ...it,
      sent_bps: fill(it.sent_bps),
      received_bps: fill(it.received_bps),
    }));
    return { schema: "braid/v1", now: view.now, id: Number(id), step_s: 1, times, streams: filled };
  }
}

interface SavedRun {
  schema?: unknown;
  started_at_ms?: unknown;
  run?: unknown[];
}

function parse(text: string): SavedRun | null {
  try {
    return JSON.parse(text) as SavedRun;
  } catch {
    throw new Error("it is no JSON");
  }
}
