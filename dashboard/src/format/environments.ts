export const ENVIRONMENT_NAMES = { test: "Test", live: "Live" } as const;

/** "from", "into" and "to" are for verbs that need them: "Export events from Live", "Import 2 rows into Test". */
export type Preposition = "from" | "in" | "into" | "to";

/** Label of a button that writes: "Add 500 credits in Live". */
export function inEnvironment(
  action: string,
  environment: "test" | "live",
  preposition: Preposition = "in",
): string {
  return `${action} ${preposition} ${ENVIRONMENT_NAMES[environment]}`;
}
