export const ENVIRONMENT_NAMES = { test: "Test", live: "Live" } as const;

/** Label of a button that writes: "Add 500 credits in Live". */
export function inEnvironment(action: string, environment: "test" | "live"): string {
  return `${action} in ${ENVIRONMENT_NAMES[environment]}`;
}
