/** How many histories a property test plays. For a long run: `HISTORIES=100000 npx vitest run …`. */
export const HISTORIES = Number(process.env["HISTORIES"] ?? 3_000);
export const HISTORIES_TIMEOUT_MS = 60_000 + HISTORIES * 20;

/** How many invalid bodies the fuzz test sends. */
export const BODIES = Number(process.env["BODIES"] ?? 10_000);

/** Hostile requests go to every route. With `ROUTE_STEP=5`, they go to all public and runtime routes, and to every fifth other route. */
export const ROUTE_STEP = Number(process.env["ROUTE_STEP"] ?? 1);
