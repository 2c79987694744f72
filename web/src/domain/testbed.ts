/** Links of a testbed, and their names in requests to the controller. */
import type { TestbedLink } from "./api";

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
