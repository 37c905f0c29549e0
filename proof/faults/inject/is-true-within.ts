import { setTimeout as pause } from "node:timers/promises";

/** Looks every few milliseconds, and returns whether the condition came true in time. */
export async function isTrueWithin(ms: number, condition: () => boolean): Promise<boolean> {
  const giveUpAtMs = performance.now() + ms;
  while (!condition()) {
    if (performance.now() > giveUpAtMs) return false;
    await pause(3);
  }
  return true;
}
