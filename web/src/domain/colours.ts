/** Colours that are distinct with any colour vision: Okabe and Ito 2008, without yellow and black. */
const STREAMS = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7"];

/** After the colours are used up, lines are cut differently. */
const DASHES = ["", "8 3", "2 3", "10 3 2 3"];

/** How a stream looks, everywhere: by its place in its transfer. */
export const streamColour = (index: number): string => STREAMS[index % STREAMS.length] ?? "#0072b2";
export const streamDash = (index: number): string => DASHES[Math.floor(index / STREAMS.length) % DASHES.length] ?? "";

/** The same of the paths of a stream that is sprayed, by their places. */
export const lineColour = streamColour;
export const lineDash = (place: number): number[] => streamDash(place).split(" ").filter(Boolean).map(Number);

/** Of times: the middle, most, and the longest. */
export const TIMES = ["#0072b2", "#e69f00", "#cc79a7"] as const;

/** Dark blue to yellow with even lightness steps: cividis, Nuñez et al. 2018. */
const LOADS = ["#3b4d6b", "#575d6d", "#707173", "#8a8779", "#a69d75", "#c4b56c", "#e4cf5b", "#ffea46"];

/** How a link looks of which so much is in use; unknown load is grey. */
export function loadColour(ratio: number | null): string {
  if (ratio === null) return "#80808088";
  const index = Math.min(LOADS.length - 1, Math.max(0, Math.floor(ratio * LOADS.length)));
  return LOADS[index] ?? "#808080";
}

export const loadScale: readonly string[] = LOADS;
