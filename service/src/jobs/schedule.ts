export type Job = { readonly name: string; readonly everyMs: number; readonly run: () => Promise<unknown> };

/** Runs each job on its timer, never twice at once; a failure is reported and the next turn tries again. */
export function schedule(
  jobs: readonly Job[],
  onError: (name: string, error: unknown) => void,
): { stop(): void } {
  const running = new Set<Job>();
  const timers = jobs.map((job) =>
    setInterval(() => {
      if (running.has(job)) return;
      running.add(job);
      job
        .run()
        .catch((error: unknown) => onError(job.name, error))
        .finally(() => running.delete(job));
    }, job.everyMs).unref(),
  );
  return {
    stop: () => {
      for (const timer of timers) clearInterval(timer);
    },
  };
}
