/** A link that is drawn on the map, from one switch to another. */
import type { Point } from "./layout";

export interface RubberLine {
  from: string;
  /** Where the pointer is; nothing where the line is drawn from the keyboard. */
  at: Point | null;
  /** The switch that the pointer is at, if it is another. */
  to: string | null;
}

/** Of these places the nearest to a point, not further away than that. */
export function nearest(places: Iterable<readonly [string, Point]>, at: Point, reach: number): string | null {
  let [found, least] = [null as string | null, reach];
  for (const [id, { x, y }] of places) {
    const away = Math.hypot(x - at.x, y - at.y);
    if (away <= least) [found, least] = [id, away];
  }
  return found;
}

/** The line after the pointer has moved to a point, at which there may be a switch. */
export const moved = (line: RubberLine, at: Point, near: string | null): RubberLine => ({ ...line, at, to: near === line.from ? null : near });
