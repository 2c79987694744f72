import { apply, type Message } from "./run";
import { empty, type View } from "./view";

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
 * Follows a controller. Each message makes a new view, which is handed over with the time it came; `hear` gets the message as it is, too.
 *
 * The browser reconnects by itself and goes on where it was.
 */
export function connect(
  open: () => Source,
  show: (view: View, at: number) => void,
  now: () => number,
  hear: (event: Message["event"], text: string, view: View) => void = () => undefined,
): Connection {
  let view = empty;
  const source = open();
  for (const event of ["snapshot", "delta", "event"] as const)
    source.addEventListener(event, (message) => {
      view = apply(view, { event, data: JSON.parse(message.data) } as Message);
      hear(event, message.data, view);
      show(view, now());
    });
  return { close: () => source.close() };
}
