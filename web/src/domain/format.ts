/** Values as people read them. */

const scaled = (value: number, units: string[]): string => {
  let index = 0;
  while (value >= 1000 && index < units.length - 1) {
    value /= 1000;
    index += 1;
  }
  const digits = value >= 100 || (index === 0 && Number.isInteger(value)) ? 0 : value >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${units[index]}`;
};

export const rate = (bps: number | null | undefined): string =>
  bps == null ? "–" : scaled(bps, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"]);

export const bytes = (count: number): string => scaled(count, ["B", "kB", "MB", "GB", "TB"]);

export const delay = (us: number | null | undefined): string =>
  us == null ? "–" : us < 1000 ? `${us.toFixed(0)} µs` : `${(us / 1000).toFixed(2)} ms`;

export const share = (ratio: number | null | undefined): string =>
  ratio == null ? "–" : `${(ratio * 100).toFixed(ratio < 0.1 ? 2 : 0)} %`;

/** A time that has passed, of nanoseconds. */
export function duration(nanos: number): string {
  const seconds = Math.max(0, nanos / 1e9);
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A datapath id without leading zeros. */
export const dpid = (id: string): string => id.replace(/^0+(?=.)/, "");

/** An address and a port, which in IPv6 takes brackets. */
export const endpoint = (address: string, port: number): string =>
  address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;

/** A share of what there is: readings of a second may exceed it by little, and more than that says that the capacity is wrong. */
export const used = (ratio: number): string => (ratio > 1.1 ? "> 100 %" : `${Math.min(100, ratio * 100).toFixed(0)} %`);

/** Made once: to make one takes longer than to use it. */
const CLOCK = new Intl.DateTimeFormat(undefined, { dateStyle: "short", timeStyle: "medium" });

/** A time in the local zone; nothing where it is not known when the controller started. */
export function absolute(startedAt: number | null, nanos: number): string | undefined {
  return startedAt === null ? undefined : CLOCK.format(startedAt + nanos / 1e6);
}

export const count = (number: number, one: string, many = `${one}s`): string => `${number} ${number === 1 ? one : many}`;
