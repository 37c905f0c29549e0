import { integerBetween } from "../chance.ts";
import type { History } from "../history/history.ts";
import type { ServiceProcess } from "../machines/service-process.ts";
import { isTrueWithin, pause } from "../pause.ts";

/** A kill of the service, and the start of its successor. */
export type Restart = { readonly killedAtMs: number; readonly startedAtMs: number };

/** How long after its first answer the process lives, so that the kill falls at any moment of a batch. */
const LIFE_MS = { min: 20, max: 800 };
const BACK_WITHIN_MS = 20_000;

/** Ends early when a successor does not come to answer: the checker sees a restart that was followed by no answer. */
export async function killService(
  service: ServiceProcess,
  history: History,
  count: number,
): Promise<Restart[]> {
  const restarts: Restart[] = [];
  while (restarts.length < count) {
    await pause(integerBetween(LIFE_MS.min, LIFE_MS.max));
    // It ended by itself; a new start would hide that.
    if (!service.isAlive) break;
    const killedAtMs = performance.now();
    await service.kill();
    const startedAtMs = performance.now();
    service.start();
    restarts.push({ killedAtMs, startedAtMs });
    history.noteFault("service killed", { killedAtMs, startedAtMs });
    if (!(await isTrueWithin(BACK_WITHIN_MS, () => history.hasOkStartedSince(startedAtMs)))) break;
  }
  return restarts;
}
