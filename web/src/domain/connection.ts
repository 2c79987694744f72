import type { Delta, Event, Snapshot } from "./api";
import { empty, fromSnapshot, withDelta, withEvent, type View } from "./view";

/** A controller that has sent nothing for so long is away, or the way to it is. */
export const STALE_MS = 3_500;

export interface Connection {
  close(): void;
}

/** What the page needs of the browser's EventSource. */
export interface Source {
  addEventListener(type: string, listener: (message: { data: string }) => void): void;
  close(): void;
}

/**
 * Follows a controller. Each message makes a new view, which is handed over with the time it came.
 *
 * The browser reconnects by itself and goes on where it was.
 */
export function connect(open: () => Source, show: (view: View, at: number) => void, now: () => number): Connection {
  let view = empty;
  const source = open();
  const on = <T>(name: string, next: (data: T) => View) =>
    source.addEventListener(name, (message) => {
      view = next(JSON.parse(message.data) as T);
      show(view, now());
    });
  on<Snapshot>("snapshot", fromSnapshot);
  on<Delta>("delta", (delta) => withDelta(view, delta));
  on<Event>("event", (event) => withEvent(view, event));
  return { close: () => source.close() };
}
