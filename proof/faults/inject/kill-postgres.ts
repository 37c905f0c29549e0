import { setTimeout as pause } from "node:timers/promises";
import { integerBetween } from "../../harness/chance.ts";
import type { PostgresServer } from "../../harness/postgres.ts";
import type { Service } from "../../harness/purser.ts";
import type { History } from "../history/history.ts";
import { isTrueWithin } from "./is-true-within.ts";

/** One time without a database. Nothing can be stored between `deadAtMs` and `restartedAtMs`. */
export type Outage = {
  readonly killedAtMs: number;
  readonly deadAtMs: number;
  readonly restartedAtMs: number;
  readonly acceptedAtMs: number;
};

const LIFE_MS = { min: 100, max: 1_500 };
const DOWN_MS = { min: 50, max: 2_500 };
/** One outage in this many is as short as can be, so that it may end within the service's own patience. */
const SHORT_EVERY = 3;
const BACK_WITHIN_MS = 20_000;

/** Kills and restarts the database under the processes, which must live through it and come back by themselves. */
export async function killPostgres(
  postgres: PostgresServer,
  services: readonly Service[],
  history: History,
  count: number,
): Promise<Outage[]> {
  const outages: Outage[] = [];
  while (outages.length < count && services.every(({ isAlive }) => isAlive)) {
    await pause(integerBetween(LIFE_MS.min, LIFE_MS.max));
    const { killedAtMs } = await postgres.kill();
    const deadAtMs = performance.now();
    if (outages.length % SHORT_EVERY !== 0) await pause(integerBetween(DOWN_MS.min, DOWN_MS.max));
    const restartedAtMs = performance.now();
    const { acceptedAtMs } = await postgres.startAgain();
    const outage = { killedAtMs, deadAtMs, restartedAtMs, acceptedAtMs };
    outages.push(outage);
    history.noteFault("postgres killed", outage);
    const areBack = (): boolean => services.every(({ name }) => history.hasOkSince(deadAtMs, name));
    if (!(await isTrueWithin(BACK_WITHIN_MS, areBack))) break;
  }
  return outages;
}
