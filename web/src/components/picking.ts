/** What is picked in a picture: by a click, or from the keyboard, where the arrows go from one to the next. */

type Pick = (kind: string, id: string) => void;

const ARROWS: Record<string, readonly [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** An action for elements whose parts have `data-kind` and `data-id`. */
export function picking(root: SVGElement, pick: Pick) {
  let call = pick;
  const parts = () => [...root.querySelectorAll<SVGElement>("[role=button][data-kind]")];
  const act = (target: EventTarget | null) => {
    const part = (target as Element | null)?.closest<SVGElement>("[data-kind]");
    if (part) call(part.dataset["kind"] ?? "", part.dataset["id"] ?? "");
  };
  const onclick = (event: MouseEvent) => act(event.target);
  const onkeydown = (event: KeyboardEvent) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      act(event.target);
    }
    const arrow = ARROWS[event.key];
    if (!arrow) return;
    event.preventDefault();
    towards(event.target as SVGElement, parts(), arrow)?.focus();
  };
  root.addEventListener("click", onclick);
  root.addEventListener("keydown", onkeydown);
  return {
    update: (next: Pick) => (call = next),
    destroy: () => {
      root.removeEventListener("click", onclick);
      root.removeEventListener("keydown", onkeydown);
    },
  };
}

/** The nearest part in a direction; what lies aside counts double. */
function towards(from: SVGElement, parts: readonly SVGElement[], [dx, dy]: readonly [number, number]): SVGElement | undefined {
  const middle = (it: SVGElement) => {
    const { left, right, top, bottom } = (it.querySelector("circle, rect") ?? it).getBoundingClientRect();
    return { x: (left + right) / 2, y: (top + bottom) / 2 };
  };
  const here = middle(from);
  let [found, least] = [undefined as SVGElement | undefined, Infinity];
  for (const part of parts) {
    const { x, y } = middle(part);
    const [ahead, aside] = [(x - here.x) * dx + (y - here.y) * dy, Math.abs((x - here.x) * dy) + Math.abs((y - here.y) * dx)];
    if (ahead > 1 && ahead + 2 * aside < least) [found, least] = [part, ahead + 2 * aside];
  }
  return found;
}
