/** Tables that the tabulator key reaches once: arrows go from row to row. */

/** An action for a table whose rows have `data-row`. */
export function rows(table: HTMLElement) {
  const all = () => [...table.querySelectorAll<HTMLElement>("[data-row]")];
  const onkeydown = (event: KeyboardEvent) => {
    const row = event.target as HTMLElement;
    if (!row.matches("[data-row]")) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      row.click();
      return;
    }
    const list = all();
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, Home: -list.length, End: list.length };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = list[Math.min(list.length - 1, Math.max(0, list.indexOf(row) + step))];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  };
  table.addEventListener("keydown", onkeydown);
  return { destroy: () => table.removeEventListener("keydown", onkeydown) };
}
