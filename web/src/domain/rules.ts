/** Rules in a switch, as they are shown: table by table. */
import type { components } from "./schema";

export type Rules = components["schemas"]["Rules"];
export type Rule = components["schemas"]["Rule"];

export interface RuleTable {
  number: number;
  /** What Braid uses it for. */
  name: string | null;
  rules: Rule[];
}

/** The tables that have rules; the controller sorts by them. */
export function byTable({ rules }: Pick<Rules, "rules">): RuleTable[] {
  const tables: RuleTable[] = [];
  for (const rule of rules) {
    const last = tables.at(-1);
    if (last?.number === rule.table) last.rules.push(rule);
    else tables.push({ number: rule.table, name: rule.table_name ?? null, rules: [rule] });
  }
  return tables;
}
