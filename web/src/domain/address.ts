/** What is looked at, as it stands in the address of the page: a view can be sent to others. */

export type SelectionKind = "switch" | "link" | "host" | "transfer" | "assignment" | "paths";
export interface Selection {
  kind: SelectionKind;
  id: string;
}

export interface Looked {
  tab: string;
  filter: string;
  selection: Selection | null;
}

const KINDS: readonly string[] = ["switch", "link", "host", "transfer", "assignment", "paths"];

/** `#tab=links&filter=ams1&link=…`; the start of the page has none. */
export function toHash({ tab, filter, selection }: Looked, first: string): string {
  const fields = new URLSearchParams();
  if (tab !== first) fields.set("tab", tab);
  if (filter !== "") fields.set("filter", filter);
  if (selection) fields.set(selection.kind, selection.id);
  return fields.size > 0 ? `#${fields}` : "";
}

export function fromHash(hash: string, tabs: readonly string[]): Looked {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const tab = fields.get("tab") ?? "";
  const [kind, id] = [...fields].find(([name]) => KINDS.includes(name)) ?? [];
  return {
    tab: tabs.includes(tab) ? tab : (tabs[0] ?? ""),
    filter: fields.get("filter") ?? "",
    selection: kind && id ? { kind: kind as SelectionKind, id } : null,
  };
}

export const same = (a: Selection | null, b: Selection | null): boolean => a?.kind === b?.kind && a?.id === b?.id;
