/** The links of a testbed, if the network is one: what they are, and how they are changed. */
import type { LinkChange, Problem, TestbedLink } from "../domain/api";
import { key, place } from "../domain/testbed";

const ADDRESS = "/api/v1/testbed/links";

class Lab {
  links = $state.raw<TestbedLink[]>([]);
  /** The link that is being changed. */
  busy = $state<string | null>(null);
  trouble = $state<string | null>(null);

  async refresh(): Promise<void> {
    const response = await fetch(ADDRESS);
    if (response.ok) this.links = ((await response.json()) as { links: TestbedLink[] }).links;
  }

  /** Whether the link was changed. */
  async change(link: TestbedLink, change: LinkChange): Promise<boolean> {
    [this.busy, this.trouble] = [key(link), null];
    const query = new URLSearchParams({ from: place(link.ends[0]), to: place(link.ends[1]) });
    try {
      const response = await fetch(`${ADDRESS}?${query}`, { method: "PUT", body: JSON.stringify(change) });
      if (!response.ok) this.trouble = ((await response.json()) as Problem).detail;
      await this.refresh();
      return response.ok;
    } catch {
      this.trouble = "The controller does not answer.";
      return false;
    } finally {
      this.busy = null;
    }
  }
}

export const lab = new Lab();
