/** Links that are up and lose frames: which they are, what was counted, and what becomes of them. */
import type { Event, Link, SwitchPort } from "./api";
import { duration, share } from "./format";
import type { Alarm } from "./health";
import { switchName } from "./names";
import { mapLinks, type MapLink } from "./overlay";
import { portName, type View } from "./view";

export type Evidence = NonNullable<Link["degraded"]>["evidence"];

/** The directions that lose frames. */
export const lossy = (links: readonly Link[]): Link[] => links.filter((it) => it.degraded !== undefined);

/** The links of a network that lose frames in either direction. */
export const lossyLinks = (view: View): MapLink[] => mapLinks(view).filter((it) => !it.failed && lossy(it.directed).length > 0);

/** The share of the counted frames that were lost. */
export const lostShare = ({ frames, lost }: Evidence): number | null => (frames > 0 ? lost / frames : null);

/** `34 of 3101 frames in 3.1 s, 12 of them damaged`. */
export function counted({ frames, lost, damaged, time_us }: Evidence): string {
  const detail = damaged > 0 ? `, ${damaged} of them damaged` : "";
  return `${lost} of ${frames} frames in ${duration(time_us * 1e3)}${detail}`;
}

/** How much of the time without losses has passed after which the link is used again, and how much there is. */
export function probation(view: View, { clean_since, hold_us }: NonNullable<Link["degraded"]>): { clean: number; hold: number } {
  const hold = hold_us * 1e3;
  return { clean: Math.min(hold, Math.max(0, view.now - clean_since)), hold };
}

/** `ams1 → gva1 1.1 %, gva1 → ams1 0.90 %`. */
export const lossesOf = (view: View, links: readonly Link[]): string =>
  links.flatMap((it) => (it.degraded ? [`${way(view, it)} ${share(lostShare(it.degraded.evidence))}`] : [])).join(", ");

const way = (view: View, { src, dst }: Pick<Link, "src" | "dst">): string => `${switchName(view, src.dpid)} → ${switchName(view, dst.dpid)}`;

interface Losses {
  src: SwitchPort;
  dst: SwitchPort;
  evidence: Evidence;
}

/** The directed link that an alarm names, and what was counted there; null of other alarms. */
export const ofAlarm = (alarm: Alarm): Losses | null =>
  alarm.kind === "lossy_link" && alarm.at ? { src: alarm.at, dst: alarm.to, evidence: alarm.evidence } : null;

/** The same of an event: of a link that loses frames, or loses none any more. */
export function ofEvent(event: Event): Losses | null {
  if (event.notice === "link_recovered") return event;
  if (event.notice !== "alarm" || event.threat.kind !== "lossy_link" || !event.at) return null;
  return { src: event.at, dst: event.threat.to, evidence: event.threat.evidence };
}

/** The last time that the link which leaves a port was found to lose nothing any more. */
export const recovery = (view: View, port: string): (Losses & { time: number }) | undefined =>
  view.events.flatMap((it) => (it.notice === "link_recovered" && portName(it.src) === port ? [it] : [])).at(-1);

/** Events about losses, in words that name both ends. */
export function lossWords(view: View, event: Event): string | null {
  const ends = ofEvent(event);
  if (!ends) return null;
  const link = `link ${switchName(view, ends.src.dpid)} > ${switchName(view, ends.dst.dpid)}`;
  return event.notice === "link_recovered" ? `${link} loses nothing any more` : `${link} loses frames: ${counted(ends.evidence)}`;
}
