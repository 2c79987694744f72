/** Several controllers: which one leads, who answers, and how old what this one shows is. */
import type { components } from "./schema";
import { delay, duration } from "./format";

export type Cluster = components["schemas"]["Cluster"];
export type Member = Cluster["members"][number];

/** Seconds since the member that answers led last; null while it leads, or is no member of a cluster. */
export type StateAge = number | "never" | null;

/** A member that was silent for so long is away. */
const SILENT_NS = 5e9;

/** Whether a member was heard of a short time ago; the one that answers hears itself. */
export const answers = (cluster: Cluster, { name, last_heard }: Member): boolean =>
  name === cluster.member || (last_heard != null && cluster.now - last_heard < SILENT_NS);

export function roleOf(cluster: Cluster, member: Member): "leads" | "stands by" | "does not answer" {
  if (!answers(cluster, member)) return "does not answer";
  return member.name === cluster.leader ? "leads" : "stands by";
}

/** How far a member is behind what the leader knows. */
export function behind({ following }: Member): string {
  if (following == null) return "–";
  if (following.problem != null) return "knows nothing of it";
  return following.lag_us == null ? "begins" : delay(following.lag_us);
}

/** Whether the member that answers stands by, so that it only knows what it knew when it led. */
export const standsBy = (cluster: Cluster | null): boolean => cluster?.member != null && cluster.leader !== cluster.member;

/** The header `Braid-State-Age`. */
export function stateAge(header: string | null): StateAge {
  if (header === null || header === "never") return header;
  const seconds = Number(header);
  return Number.isFinite(seconds) ? seconds : null;
}

export function ageText(age: StateAge): string {
  if (age === null) return "current";
  return age === "never" ? "none yet: it has not led" : `${duration(age * 1e9)} old`;
}

/** What a person must know who looks at a member that stands by. */
export function notice(cluster: Cluster, age: StateAge): string {
  const who = cluster.leader ? `${cluster.leader} leads` : "no member leads";
  const what = age === "never" ? "It has not led yet, so it shows no network" : age === null ? "What it shows may be old" : `What it shows is ${ageText(age)}`;
  return `${cluster.member} stands by: ${who}. ${what}.`;
}
