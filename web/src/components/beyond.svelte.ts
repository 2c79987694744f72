/** Links and hosts that the controller was asked for, as the stream leaves them out. */
import type { Host, Link } from "../domain/api";
import { ofHost, ofPort, search, type Partial } from "../domain/beyond";
import { portName } from "../domain/view";

/** After a key, a short while passes before anything is asked for. */
const SETTLE_MS = 250;
const REFRESH_MS = 5_000;
/** Rows that a table has. */
const MAX_FOUND = 200;

async function ask(address: string, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(address, { signal });
  if (!response.ok) throw new Error(response.statusText);
  return response.json();
}

/** Asks soon and then now and then, until what it returns is called. */
function every(act: (signal: AbortSignal) => Promise<void>): () => void {
  const stop = new AbortController();
  // The top of the page reports an absent controller.
  const go = () => void (document.hidden || act(stop.signal).catch(() => undefined));
  const soon = setTimeout(go, SETTLE_MS);
  const timer = setInterval(go, REFRESH_MS);
  return () => {
    stop.abort();
    clearTimeout(soon);
    clearInterval(timer);
  };
}

class Beyond {
  /** What fits the filter. */
  found = $state.raw<readonly (Host | Link)[]>([]);
  /** What is shown in detail. */
  picked = $state.raw<readonly (Host | Link)[]>([]);

  host = (mac: string): Host | undefined => this.picked.find((it): it is Host => "mac" in it && it.mac === mac);
  link = (port: string): Link | undefined => this.picked.find((it): it is Link => "src" in it && portName(it.src) === port);

  search(list: Partial, filter: string): () => void {
    this.found = [];
    return every(async (signal) => {
      this.found = await search(list, filter, MAX_FOUND, (address) => ask(address, signal));
    });
  }

  pick(list: Partial, id: string): () => void {
    this.picked = this.found.filter((it) => ("mac" in it ? it.mac === id : id.includes(portName(it.src))));
    const filters = list === "hosts" ? [ofHost(id)] : id.split(" ").map(ofPort);
    return every(async (signal) => {
      this.picked = (await Promise.all(filters.map((it) => search(list, it, 1, (address) => ask(address, signal))))).flat();
    });
  }
}

export const beyond = new Beyond();
