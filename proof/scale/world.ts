/** Event keys. All customers use the first three, and some use each of the others. */
export const KEYS = [
  "tokens.generated",
  "request.served",
  "file.stored",
  ...Array.from({ length: 17 }, (_, i) => `job.step-${i + 1}`),
];
/** One in 100,000 events has this key. One in six events has the most common key. */
export const RARE_KEY = "report.closed";
export const RARE_MODEL = "huge";

/** The generated data. */
export type World = {
  readonly customers: number;
  /** Events were recorded in this range. */
  readonly from: number;
  readonly to: number;
};

/** The past 13 months, up to a minute ago. */
export function openWorld(customers: number): World {
  const to = Math.floor(Date.now() / 60_000 - 1) * 60_000;
  const from = new Date(to);
  from.setUTCMonth(from.getUTCMonth() - 13);
  // If the target month is shorter, the date overflows into the next one, and the range is up to three days shorter.
  return { customers, from: from.getTime(), to };
}
