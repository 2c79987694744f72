/** How things of a network are called: by the names that are written down anywhere, else by their identifiers. */
import type { Host, Link, SwitchPort } from "./api";
import { dpid } from "./format";
import type { View } from "./view";

type Names = Pick<View, "switches" | "names">;

/** A switch by its name, else by its datapath id. */
export const switchName = (view: Names, id: string): string => view.switches.get(id)?.name ?? view.names.get(id) ?? dpid(id);

/** The name that a switch itself gives a port, such as `eth1`; nothing if it is not known. */
export const portTitle = (view: Names, at: SwitchPort): string | undefined =>
  view.switches.get(at.dpid)?.ports.find((it) => it.port === at.port)?.name;

/** A port of a switch: `ams1:eth1`; the port `ams1-gva1` of the switch `ams1` is `ams1:gva1`. */
export function portOf(view: Names, at: SwitchPort): string {
  const name = switchName(view, at.dpid);
  const port = portTitle(view, at) ?? String(at.port);
  return `${name}:${port.startsWith(`${name}-`) ? port.slice(name.length + 1) : port}`;
}

/** A directed link: `ams1:gva1 > gva1:ams1`. */
export const linkName = (view: Names, link: Pick<Link, "src" | "dst">): string => `${portOf(view, link.src)} > ${portOf(view, link.dst)}`;

/** Both directions of a link: `ams1 – gva1`. */
export const pairName = (view: Names, link: Pick<Link, "src" | "dst">): string => `${switchName(view, link.src.dpid)} – ${switchName(view, link.dst.dpid)}`;

export const pathName = (view: Names, path: readonly string[]): string => path.map((id) => switchName(view, id)).join(" > ");

/** Fields that newer controllers send. */
type Named = Host & { name?: string | null; host?: string };

/** IPv4 before IPv6, and addresses of the link alone last. */
const weight = (address: string): number => (/^(fe80|169\.254)/i.test(address) ? 2 : address.includes(":") ? 1 : 0);

export const addressesOf = (host: Host): string[] => [...host.addresses].sort((a, b) => weight(a) - weight(b));

/** A host by its name, else by an address: the one that is asked about, or the first. */
export const hostName = (host: Host, address?: string): string => (host as Named).name || address || addressesOf(host)[0] || host.mac;

/** What all interfaces of a host have in common; of an interface of which no more is known, its own address. */
export const hostKey = (host: Host): string => (host as Named).host || host.mac;

/** A text with the names of the switches that it mentions by their datapath ids. */
export const named = (view: Names, text: string): string => text.replace(/\b[0-9a-f]{16}\b/g, (id) => switchName(view, id));
