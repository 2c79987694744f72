/** What the stream leaves out of a large network: it has the first links, hosts and transfers, and the controller is asked for others. */
import type { Host, Link, NetworkTotals } from "./api";
import { portName, type View } from "./view";

/** The lists of which the stream may have a part. */
export type Partial = "links" | "hosts";
export type Ask = (address: string) => Promise<unknown>;

/** How many there are in all of a list, though the page is told of fewer. */
export const totalOf = (view: View, list: keyof NetworkTotals): number => Math.max(view[list].size, view.totals?.[list] ?? 0);

export const isPartial = (view: View, list: Partial): boolean => totalOf(view, list) > view[list].size;

/** Pages that are read for one answer: the controller looks at 1 MiB of items for each. */
const MAX_PAGES = 64;

/** At most so many of the items that fit a filter. */
export async function search(list: "links", filter: string, most: number, ask: Ask): Promise<Link[]>;
export async function search(list: "hosts", filter: string, most: number, ask: Ask): Promise<Host[]>;
export async function search(list: Partial, filter: string, most: number, ask: Ask): Promise<(Host | Link)[]>;
export async function search(list: Partial, filter: string, most: number, ask: Ask): Promise<(Host | Link)[]> {
  const found: (Host | Link)[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES && found.length < most; page += 1) {
    const parameters = new URLSearchParams({ filter, limit: String(most - found.length), ...(cursor === null ? {} : { cursor }) });
    const answer = (await ask(`/api/v1/${list}?${parameters}`)) as { next_cursor: string | null } & Record<Partial, (Host | Link)[] | undefined>;
    found.push(...(answer[list] ?? []));
    cursor = answer.next_cursor;
    if (cursor === null) break;
  }
  return found;
}

/** The filter that only one host fits, and the one for the links that leave a port. */
export const ofHost = (mac: string): string => `mac=${mac}`;
export function ofPort(name: string): string {
  const [dpid = "", port = ""] = name.split(":");
  return `src.dpid=${dpid} src.port=${port}`;
}

/** What is found and not told. */
export const others = <T extends Host | Link>(view: View, found: readonly T[]): T[] =>
  found.filter((it) => ("mac" in it ? !view.hosts.has(it.mac) : !view.links.has(portName(it.src))));
