/** Some twenty keys: three that everybody reports, the others of some customers each. */
export const KEYS = [
  "tokens.generated",
  "request.served",
  "file.stored",
  ...Array.from({ length: 17 }, (_, i) => `job.step-${i + 1}`),
];
/** The first of the list is in a sixth of all events, this one in one of a hundred thousand. */
export const RARE_KEY = "report.closed";
export const RARE_MODEL = "huge";

/** What there is to ask about. */
export type World = {
  readonly customers: number;
  /** Events were recorded from the one moment to the other. */
  readonly from: number;
  readonly to: number;
};

/** The past 13 months, up to a minute ago. */
export function openWorld(customers: number): World {
  const to = Math.floor(Date.now() / 60_000 - 1) * 60_000;
  const from = new Date(to);
  from.setUTCMonth(from.getUTCMonth() - 13);
  // The 31st of a short month is in the one after it: a day or two less than 13 months.
  return { customers, from: from.getTime(), to };
}
