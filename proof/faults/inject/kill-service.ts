import { setTimeout as pause } from "node:timers/promises";
import { integerBetween } from "../../harness/chance.ts";
import type { Service } from "../../harness/purser.ts";
import type { History } from "../history/history.ts";
import { isTrueWithin } from "./is-true-within.ts";

/** A kill of one API process, and the start of its successor. */
export type Restart = { readonly service: string; readonly killedAtMs: number; readonly startedAtMs: number };

/** How long after its first answer the process lives, so that the kill falls at any moment of a batch. */
const LIFE_MS = { min: 20, max: 800 };
const BACK_WITHIN_MS = 20_000;

/**
 * Kills one process and then the next, while the others go on with the same customers and keys. Ends early when a
 * successor does not come to answer: the checker sees a restart that was followed by no answer.
 */
export async function killService(
  services: readonly Service[],
  history: History,
  count: number,
): Promise<Restart[]> {
  const restarts: Restart[] = [];
  while (restarts.length < count) {
    await pause(integerBetween(LIFE_MS.min, LIFE_MS.max));
    const service = services[restarts.length % services.length];
    // One that ended by itself stays so; a new start would hide that.
    if (service === undefined || !services.every(({ isAlive }) => isAlive)) break;
    const killedAtMs = performance.now();
    await service.kill();
    const startedAtMs = performance.now();
    // When it is ready, its answers show.
    service.launch().catch(() => {});
    restarts.push({ service: service.name, killedAtMs, startedAtMs });
    history.noteFault(`service ${service.name} killed`, { killedAtMs, startedAtMs });
    if (!(await isTrueWithin(BACK_WITHIN_MS, () => history.hasOkSince(startedAtMs, service.name)))) break;
  }
  return restarts;
}
