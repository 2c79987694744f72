/** What the stream of the controller does not tell: alarms, assignments, the cluster, the links of a testbed. */
import { stateAge, type Cluster, type StateAge } from "../domain/cluster";
import type { Alarm } from "../domain/health";
import type { Assignment } from "../domain/sketch";
import { lab } from "./lab.svelte";

const REFRESH_MS = 5_000;
/** Events come in bursts: after one, a short while passes before anything is asked for. */
const SETTLE_MS = 150;
const OF_LINKS = new Set(["link_down", "link_up", "link_recovered", "switch_joined", "switch_left"]);

class Watch {
  alarms = $state.raw<Alarm[]>([]);
  assignments = $state.raw<Assignment[]>([]);
  cluster = $state.raw<Cluster | null>(null);
  /** How old the state is that this controller serves. */
  age = $state<StateAge>(null);
  #alone = false;
  #waiting: ReturnType<typeof setTimeout> | undefined;

  /** Asks now and then, until what it returns is called. */
  start(): () => void {
    const ask = () => void (document.hidden || this.#ask());
    ask();
    const timer = setInterval(ask, REFRESH_MS);
    return () => clearInterval(timer);
  }

  /** Asks soon, if an event of this kind changes the answers. */
  news(notice: string): void {
    if (!OF_LINKS.has(notice) && notice !== "alarm") return;
    clearTimeout(this.#waiting);
    this.#waiting = setTimeout(() => void this.#ask(), SETTLE_MS);
  }

  async #ask(): Promise<void> {
    // The top of the page reports an absent controller.
    const quiet = () => undefined;
    await Promise.all([lab.busy ? undefined : lab.refresh().catch(quiet), this.#askAlarms().catch(quiet), this.#askAssignments().catch(quiet), this.#askCluster().catch(quiet)]);
  }

  async #askAlarms(): Promise<void> {
    const response = await fetch("/api/v1/alarms");
    this.age = stateAge(response.headers.get("braid-state-age"));
    if (response.ok) this.alarms = ((await response.json()) as { alarms: Alarm[] }).alarms;
  }

  async #askAssignments(): Promise<void> {
    const response = await fetch("/api/v1/assignments");
    if (response.ok) this.assignments = ((await response.json()) as { assignments: Assignment[] }).assignments;
  }

  /** A controller that is no member of a cluster is asked once. */
  async #askCluster(): Promise<void> {
    if (this.#alone) return;
    const response = await fetch("/api/v1/cluster");
    const cluster = response.ok ? ((await response.json()) as Cluster) : null;
    // A run that is played back has no cluster either, and says so by 404.
    this.#alone = cluster?.name === null || response.status === 404;
    this.cluster = this.#alone ? null : cluster;
  }
}

export const watch = new Watch();
