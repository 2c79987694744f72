/** Whether a network is well, and what is wrong. */
import type { components } from "./schema";
import { answers, type Cluster } from "./cluster";
import { lossesOf, lossy, lossyLinks, ofAlarm } from "./degraded";
import { count, duration } from "./format";
import { usersOf } from "./limits";
import { named, pairName, portOf, switchName } from "./names";
import { linkKey, load, mapLinks } from "./overlay";
import type { Selection } from "./address";
import type { Link } from "./api";
import { portName, type View } from "./view";

export type Alarm = components["schemas"]["Alarm"];

export interface Trouble {
  /** Broken; what may break; what is worth to know, though a network with it is well. */
  severity: "bad" | "warning" | "note";
  text: string;
  /** What shows more of it. */
  target?: Selection;
  tab?: string;
}

export interface Watched {
  view: View;
  alarms: readonly Alarm[];
  cluster: Cluster | null;
}

/** An alarm that is older is history. */
const RECENT_NS = 600e9;
const FULL = 0.95;
const MAX_NAMED = 3;

export function troubles({ view, alarms, cluster }: Watched): Trouble[] {
  return [...cuts(view), ...losses(view, alarms), ...attacks(view, alarms), ...members(cluster), ...refusals(view), ...unled(view), ...full(view)];
}

function cuts(view: View): Trouble[] {
  return mapLinks(view)
    .filter((it) => it.failed)
    .flatMap(({ key, directed: [link] }) => (link ? [{ severity: "bad" as const, text: `Link ${pairName(view, link)} is down`, target: linkTarget(key) }] : []));
}

/** Links that lose frames now, and those that did a short time ago and are used again. */
function losses(view: View, alarms: readonly Alarm[]): Trouble[] {
  const past = new Set(alarms.filter((it) => recent(view, it)).flatMap((it) => ofAlarm(it) ?? []).map(linkKey));
  const again = mapLinks(view).filter((it) => past.has(it.key) && !it.failed && lossy(it.directed).length === 0);
  return [
    ...lossyLinks(view).map(({ key, directed }): Trouble => ({ severity: "warning", text: lossText(view, directed), target: linkTarget(key) })),
    ...again.map(({ key, directed }): Trouble => ({ severity: "note", text: `Link ${pairName(view, directed[0] as Link)} lost frames and is used again`, target: linkTarget(key) })),
  ];
}

function lossText(view: View, directed: readonly Link[]): string {
  const link = directed[0] as Link;
  const users = usersOf(view, link).length;
  return `Link ${pairName(view, link)} loses frames (${lossesOf(view, directed)}): ${users > 0 ? `${count(users, "transfer")} still on it` : "avoided"}`;
}

const linkTarget = (id: string): Selection => ({ kind: "link", id });

const recent = (view: View, alarm: Alarm): boolean => view.now - alarm.last_at < RECENT_NS;

/** Alarms but for those of losses, which links tell of themselves. */
function attacks(view: View, alarms: readonly Alarm[]): Trouble[] {
  return alarms.filter((it) => recent(view, it) && !ofAlarm(it)).map((it) => {
    const place = it.at ? [portOf(view, it.at), portName(it.at)] : it.peer ? [it.peer] : [];
    // Most texts say where it was.
    const where = place.some((name) => it.text.includes(name)) || place.length === 0 ? "" : ` at ${place[0]}`;
    const [severity, tab] = it.kind === "silent_path" ? (["warning", "edges"] as const) : (["bad", "events"] as const);
    return { severity, text: `${named(view, it.text)}${where} (${it.count}×, ${duration(view.now - it.last_at)} ago)`, tab };
  });
}

function members(cluster: Cluster | null): Trouble[] {
  if (!cluster) return [];
  const found: Trouble[] = [];
  if (!cluster.store_answers) found.push({ severity: "bad", text: "The cluster's store does not answer", tab: "cluster" });
  if (!cluster.leader) found.push({ severity: "bad", text: "No controller leads the cluster", tab: "cluster" });
  const silent = cluster.members.filter((it) => !answers(cluster, it));
  return [...found, ...silent.map((it) => ({ severity: "bad" as const, text: `Controller ${it.name} does not answer`, tab: "cluster" }))];
}

/** Rules that could not be installed a short time ago. */
function refusals(view: View): Trouble[] {
  const kinds = new Set(["install_failed", "command_refused", "table_full"]);
  const last = view.events.filter((it) => kinds.has(it.notice) && view.now - it.time < 60e9).at(-1);
  return last ? [{ severity: "warning", text: named(view, last.text), tab: "events" }] : [];
}

function unled(view: View): Trouble[] {
  const slaves = [...view.switches.values()].filter((it) => it.role === "slave");
  if (slaves.length === 0) return [];
  const some = slaves.slice(0, MAX_NAMED).map((it) => switchName(view, it.dpid));
  return [{ severity: "warning", text: `${count(slaves.length, "switch", "switches")} led by another controller: ${some.join(", ")}${slaves.length > MAX_NAMED ? " …" : ""}` }];
}

function full(view: View): Trouble[] {
  const links = [...view.links.values()].filter((it) => (load(it) ?? 0) >= FULL);
  if (links.length === 0) return [];
  const some = links.slice(0, MAX_NAMED).map((it) => `${switchName(view, it.src.dpid)} > ${switchName(view, it.dst.dpid)}`);
  return [{ severity: "note", text: `${count(links.length, "link is", "links are")} full: ${some.join(", ")}${links.length > MAX_NAMED ? " …" : ""}`, tab: "links" }];
}
