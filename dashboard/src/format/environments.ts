/** What a button that changes something says: "Add 500 credits in LIVE". Nobody should have to look elsewhere. */
export function inEnvironment(action: string, environment: "test" | "live"): string {
  return `${action} in ${environment === "live" ? "LIVE" : "test"}`;
}
