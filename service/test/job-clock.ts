import { onTestFinished, vi } from "vitest";

/** Moves the timers of jobs. */
export type JobClock = { readonly pass: (ms: number) => void };

/**
 * Starts a service whose jobs run when the test moves their clock, so that a test of a job that runs every ten seconds does not
 * wait. All other timers are real.
 */
export async function withJobClock<T>(start: () => Promise<T>): Promise<T & JobClock> {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  try {
    const started = await start();
    return { ...started, pass: (ms) => void vi.advanceTimersByTime(ms) };
  } finally {
    // Registered after `start`, so that real timers are restored before the service stops, which needs them.
    onTestFinished(() => void vi.useRealTimers());
  }
}
