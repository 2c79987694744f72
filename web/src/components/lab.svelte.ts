/** The links of a testbed, if the network is one: what they are, and how they are changed, added and removed. */
import type { LinkChange, NewTestbedLink, Problem, TestbedLink } from "../domain/api";
import { key, place } from "../domain/testbed";

const ADDRESS = "/api/v1/testbed/links";

/** The ends of a link, as requests name them. */
type Ends = readonly [string, string];
const endsOf = (link: TestbedLink): Ends => [place(link.ends[0]), place(link.ends[1])];

class Lab {
  links = $state.raw<TestbedLink[]>([]);
  /** The link that is being changed. */
  busy = $state<string | null>(null);
  trouble = $state<string | null>(null);
  /** The link that a form is open for, by the datapath ids of its switches; the second may not be known yet. */
  draft = $state<{ from: string; to: string } | null>(null);
  /** What was done last, for those who do not see it. */
  news = $state("");

  async refresh(): Promise<void> {
    const response = await fetch(ADDRESS);
    if (response.ok) this.links = ((await response.json()) as { links: TestbedLink[] }).links;
  }

  /** Whether the link was changed. */
  async change(link: TestbedLink, change: LinkChange): Promise<boolean> {
    this.trouble = null;
    this.trouble = await this.#ask("PUT", endsOf(link), change);
    return this.trouble === null;
  }

  /** Adds a link between two switches, by the testbed's names; what is wrong, if anything. */
  async add(ends: Ends, link: NewTestbedLink): Promise<string | null> {
    const trouble = await this.#ask("POST", ends, link);
    if (trouble === null) this.news = `Link ${ends.join(" – ")} was added.`;
    return trouble;
  }

  /** Removes a link with both its ports; what is wrong, if anything. */
  async remove(link: TestbedLink): Promise<string | null> {
    const trouble = await this.#ask("DELETE", endsOf(link));
    if (trouble === null) this.news = `Link ${key(link)} was removed.`;
    return trouble;
  }

  async #ask(method: string, ends: Ends, body?: LinkChange | NewTestbedLink): Promise<string | null> {
    this.busy = ends.join(" – ");
    const [from, to] = ends;
    try {
      const response = await fetch(`${ADDRESS}?${new URLSearchParams({ from, to })}`, { method, body: body ? JSON.stringify(body) : null });
      const trouble = response.ok ? null : ((await response.json()) as Problem).detail;
      await this.refresh();
      return trouble;
    } catch {
      return "The controller does not answer.";
    } finally {
      this.busy = null;
    }
  }
}

export const lab = new Lab();
