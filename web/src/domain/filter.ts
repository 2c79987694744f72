/** Which items of a list are shown; the same language as of `--filter` of the command. */

type Test = (item: unknown) => boolean;

/** What is asked for, or why it cannot be understood. */
export type Filter = { fits: Test; error: null } | { fits: null; error: string };

/** Conditions that all have to hold: `kind=mptcp sent_bps>10M -path=3 "default path"`. */
export function filter(text: string): Filter {
  const split = words(text);
  if (split === null) return { fits: null, error: "a quotation mark is not closed" };
  const tests: Test[] = [];
  for (const word of split) {
    const test = condition(word);
    if (typeof test === "string") return { fits: null, error: test };
    tests.push(test);
  }
  return { fits: (item) => tests.every((test) => test(item)), error: null };
}

/** Splits at spaces that do not stand in quotes. */
function words(text: string): string[] | null {
  const found: string[] = [];
  let [word, quoted, begun] = ["", false, false];
  for (const character of text) {
    if (character === '"') [quoted, begun] = [!quoted, true];
    else if (/\s/.test(character) && !quoted) {
      if (begun) found.push(word);
      [word, begun] = ["", false];
    } else [word, begun] = [word + character, true];
  }
  if (quoted) return null;
  return begun ? [...found, word] : found;
}

function condition(word: string): Test | string {
  const negated = word.startsWith("-");
  const rest = negated ? word.slice(1) : word;
  const parts = /^([A-Za-z0-9_.-]+)(!=|>=|<=|=|~|<|>)(.*)$/su.exec(rest);
  if (!parts) {
    const wanted = rest.toLowerCase();
    const plain = /^[^"\\\p{Cc}]*$/u.test(wanted);
    // Most items have no such text anywhere, which one look says.
    const may = (item: unknown) => !plain || JSON.stringify(item).toLowerCase().includes(wanted);
    return (item) => (may(item) && some(item, (_, leaf) => leaf.toLowerCase().includes(wanted))) !== negated;
  }
  const [, name = "", operator = "", value = ""] = parts;
  if (/[<>]/.test(operator) && number(value) === null) return `"${word}": "${value}" is no number, such as 10 or 2.5M`;
  const path = name.split(".");
  const named = (at: readonly string[]) => path.every((part, index) => at.at(index - path.length) === part);
  const holds = (item: unknown) => some(item, (at, leaf) => named(at) && compares(operator, leaf, value));
  return (item) => holds(item) !== (negated !== (operator === "!="));
}

type Leaf = (at: readonly string[], text: string) => boolean;

/** Whether one of the values that are no lists and no objects fits, as text, with the names that lead to it. */
function some(value: unknown, fits: Leaf, at: string[] = []): boolean {
  if (typeof value !== "object" || value === null) return fits(at, String(value));
  if (Array.isArray(value)) {
    for (const item of value) if (some(item, fits, at)) return true;
    return false;
  }
  for (const name in value) {
    at.push(name);
    const found = some((value as Record<string, unknown>)[name], fits, at);
    at.pop();
    if (found) return true;
  }
  return false;
}

function compares(operator: string, leaf: string, value: string): boolean {
  if (operator === "~") return leaf.toLowerCase().includes(value.toLowerCase());
  const [a, b] = [number(leaf), number(value)];
  if (operator === "=" || operator === "!=")
    return short(leaf.toLowerCase()) === short(value.toLowerCase()) || (a !== null && a === b);
  if (a === null || b === null) return false;
  return { "<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b }[operator] ?? false;
}

/** A datapath id without leading zeros. */
const short = (text: string): string => (text.length === 16 ? text.replace(/^0{1,15}/, "") : text);

/** A number, in thousands if `k` follows, and so on: `10M`. */
function number(text: string): number | null {
  const parts = /^([-+.\deE]+)([kMGT]?)$/.exec(text);
  const value = parts ? Number(parts[1]) : NaN;
  return parts && !Number.isNaN(value) ? value * ({ k: 1e3, M: 1e6, G: 1e9, T: 1e12 }[parts[2] ?? ""] ?? 1) : null;
}
