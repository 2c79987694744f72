/** Lines that are drawn in a picture with the pointer, from one part to another: with Shift held, or while they are `armed`. */
import { moved, type RubberLine } from "../domain/joining";
import type { Point } from "../domain/layout";

export interface Joining {
  /** Whether a drag draws a line without Shift. */
  armed: boolean;
  line: RubberLine | null;
  /** The part at a point, if a line can begin or end there. */
  near: (at: Point) => string | null;
  draw: (line: RubberLine | null) => void;
  join: (from: string, to: string) => void;
  /** Ends all drawing. */
  cancel: () => void;
}

type Listeners = { [K in keyof WindowEventMap]?: (event: WindowEventMap[K]) => void };

/** An action for a picture; a line that begins with a click ends with another, or from the keyboard. */
export function joining(picture: SVGSVGElement, options: Joining) {
  let now = options;
  /** Whether the line began with the button that is held. */
  let dragged = false;
  const place = ({ clientX, clientY }: MouseEvent): Point => new DOMPoint(clientX, clientY).matrixTransform(picture.getScreenCTM()?.inverse());

  function begin(event: PointerEvent) {
    dragged = false;
    if (event.button !== 0 || !(event.shiftKey || now.armed)) return;
    const from = now.near(place(event));
    if (from === null || (now.line && now.line.from !== from)) return;
    dragged = true;
    now.draw({ from, at: place(event), to: null });
  }
  function end(event: PointerEvent) {
    const { line } = now;
    if (!line || !dragged) return;
    dragged = false;
    if (line.to !== null) now.join(line.from, line.to);
    else if (!now.armed || now.near(place(event)) !== line.from) now.draw(null);
  }
  /** Text would be selected. */
  const keep = (event: MouseEvent) => dragged && event.preventDefault();

  const listeners: Listeners = {
    pointermove: (event) => now.line && now.draw(moved(now.line, place(event), now.near(place(event)))),
    pointerup: end,
    pointercancel: () => now.line && now.draw(null),
    keydown: (event) => {
      if (event.key !== "Escape" || !(now.armed || now.line)) return;
      event.stopPropagation();
      now.cancel();
    },
  };
  const all = Object.entries(listeners) as [string, EventListener][];
  picture.addEventListener("pointerdown", begin);
  picture.addEventListener("mousedown", keep);
  for (const [name, listener] of all) window.addEventListener(name, listener, true);
  return {
    update: (next: Joining) => (now = next),
    destroy: () => {
      picture.removeEventListener("pointerdown", begin);
      picture.removeEventListener("mousedown", keep);
      for (const [name, listener] of all) window.removeEventListener(name, listener, true);
    },
  };
}
