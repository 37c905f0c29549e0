/** How many histories a test plays: `HISTORIES=100000 npx vitest run …` for a long run. */
export const HISTORIES = Number(process.env["HISTORIES"] ?? 3_000);

/** A generous one: what is too slow here is found by looking, not by a timer. */
export const HISTORIES_TIMEOUT_MS = 60_000 + HISTORIES * 20;
