/** Links of a testbed, their names in requests to the controller, and what forms say of them. */
import type { NewTestbedLink, TestbedLink } from "./api";
import { count } from "./format";
import { usersOf } from "./limits";
import { switchName } from "./names";
import { linkKey } from "./overlay";
import { portName, type View } from "./view";

type End = TestbedLink["ends"][number];

const names = (link: TestbedLink): string => link.ends.map((it) => it.name).join(" – ");

/** An end as requests name it: a switch by its port, as several links may join the same two. */
export const place = (end: End | undefined): string => (end?.at ? `${end.name}:${end.at.port}` : (end?.name ?? ""));

/** The unique key of a link. */
export const key = (link: TestbedLink): string => link.ends.map(place).join(" – ");

/** The title of each link: the names of its ends, with ports where another link joins the same two. */
export function titles(links: TestbedLink[]): Map<string, string> {
  const pair = (link: TestbedLink) => link.ends.map((it) => it.name).sort().join(" – ");
  const counts = new Map<string, number>();
  for (const link of links) counts.set(pair(link), (counts.get(pair(link)) ?? 0) + 1);
  return new Map(links.map((link) => [key(link), (counts.get(pair(link)) ?? 0) > 1 ? key(link) : names(link)]));
}

/** The switches that a new link can join, with the testbed's names of them; none where the network is no testbed. Edges keep their links. */
export function joinable(view: Pick<View, "switches" | "names" | "edges">, links: readonly TestbedLink[]): ReadonlyMap<string, string> {
  if (links.length === 0) return new Map();
  const called = new Map(links.flatMap((it) => it.ends).flatMap(({ at, name }) => (at ? [[at.dpid, name] as const] : [])));
  const switches = [...view.switches.keys()].filter((it) => !view.edges.has(it));
  return new Map(switches.map((it) => [it, called.get(it) ?? switchName(view, it)]));
}

/** The link between two switches that the map knows by both its ports; none if one of them is an edge, which keeps its links. */
export function removable(view: Pick<View, "edges">, links: readonly TestbedLink[], id: string): TestbedLink | undefined {
  return links.find(({ ends: [a, b] }) => a?.at && b?.at && linkKey({ src: a.at, dst: b.at }) === id && ![a.at, b.at].some((it) => view.edges.has(it.dpid)));
}

/** Who feels it when a link is cut or removed. */
export function usage(view: View, link: TestbedLink): string {
  const at = link.ends.find((it) => it.at)?.at;
  const directed = at && view.links.get(portName(at));
  const users = directed ? usersOf(view, directed).length : 0;
  return users === 0 ? "No transfer uses it now." : `${count(users, "transfer uses it now", "transfers use it now")}, and will take other links where there are any.`;
}

/** What fields of a form have: a text, or a number; null if a field for numbers is empty. */
type Field = string | number | null;
export interface Fields {
  /** In Mbit/s. */
  rate: Field;
  /** In milliseconds. */
  delay: Field;
  /** In percent. */
  loss: Field;
}

/** A form's amounts in the units of requests; null where a field is empty. */
export function amounts({ rate, delay, loss }: Fields) {
  const number = (it: Field, unit: number) => (it === null || String(it).trim() === "" ? null : Number(it) * unit);
  const whole = (it: number | null) => (it === null ? null : Math.round(it));
  const percent = number(loss, 1);
  return { rate_bps: whole(number(rate, 1e6)), delay_us: whole(number(delay, 1e3)), loss: percent === null ? null : percent / 100 };
}

/** A new link as a form says it; the form has a rate. */
export const newLink = (fields: Fields): NewTestbedLink => {
  const { rate_bps, ...rest } = amounts(fields);
  return { rate_bps: rate_bps ?? 0, ...rest };
};

/** What the rate of a new link is likely to be, as a form has it: that of the first link between switches that has one. */
export function likelyRate(links: readonly TestbedLink[]): string {
  const rates = links.filter((it) => it.ends.every((end) => end.at)).flatMap((it) => it.ends[0]?.rate_bps ?? []);
  return rates[0] === undefined ? "" : String(rates[0] / 1e6);
}
