import { setTimeout as pause } from "node:timers/promises";
import type { PostgresServer } from "../harness/postgres.ts";
import type { Service } from "../harness/purser.ts";
import { integerBetween } from "../harness/random.ts";
import type { History } from "./history.ts";

/** A kill of one API process, and the start of its replacement. */
export type Restart = { readonly service: string; readonly killedAtMs: number; readonly startedAtMs: number };

/** One period without a database. Nothing can be stored between `deadAtMs` and `restartedAtMs`. */
export type Outage = {
  readonly killedAtMs: number;
  readonly deadAtMs: number;
  readonly restartedAtMs: number;
  readonly acceptedAtMs: number;
};

/** Time from a process's first response to its kill, so that kills happen at all stages of a batch. */
const SERVICE_LIFE_MS = { min: 20, max: 800 };
const POSTGRES_LIFE_MS = { min: 100, max: 1_500 };
const DOWN_MS = { min: 50, max: 2_500 };
/** One of this many outages is as short as possible, so that some outages end before the service stops waiting. */
const SHORT_EVERY = 3;
const BACK_WITHIN_MS = 20_000;

/**
 * Kills the processes in turn, while the others serve the same customers and keys. Stops early if a replacement does not
 * respond; the checker then reports a restart without a response.
 */
export async function killService(
  services: readonly Service[],
  history: History,
  count: number,
): Promise<Restart[]> {
  const restarts: Restart[] = [];
  while (restarts.length < count) {
    await pause(integerBetween(SERVICE_LIFE_MS.min, SERVICE_LIFE_MS.max));
    const service = services[restarts.length % services.length];
    // A process that crashed by itself is not restarted, because that would hide the crash.
    if (service === undefined || !services.every(({ isAlive }) => isAlive)) break;
    const killedAtMs = performance.now();
    await service.kill();
    const startedAtMs = performance.now();
    // The process's responses show when it is ready.
    service.launch().catch(() => {});
    restarts.push({ service: service.name, killedAtMs, startedAtMs });
    history.noteFault(`service ${service.name} killed`, { killedAtMs, startedAtMs });
    if (!(await isTrueWithin(BACK_WITHIN_MS, () => history.hasOkSince(startedAtMs, service.name)))) break;
  }
  return restarts;
}

/** Kills and restarts the database. The API processes must survive and recover without help. */
export async function killPostgres(
  postgres: PostgresServer,
  services: readonly Service[],
  history: History,
  count: number,
): Promise<Outage[]> {
  const outages: Outage[] = [];
  while (outages.length < count && services.every(({ isAlive }) => isAlive)) {
    await pause(integerBetween(POSTGRES_LIFE_MS.min, POSTGRES_LIFE_MS.max));
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

/** Polls every few milliseconds and returns whether the condition became true in time. */
export async function isTrueWithin(ms: number, condition: () => boolean): Promise<boolean> {
  const giveUpAtMs = performance.now() + ms;
  while (!condition()) {
    if (performance.now() > giveUpAtMs) return false;
    await pause(3);
  }
  return true;
}
