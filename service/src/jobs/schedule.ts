export type Job = { readonly name: string; readonly everyMs: number; readonly run: () => Promise<unknown> };

export type JobRun = {
  readonly name: string;
  readonly durationMs: number;
  /** Null if the run succeeded. */
  readonly error: unknown;
};

/** Runs each job at its interval, unless its previous run is unfinished. A failed run is reported and retried at the next interval. */
export function schedule(jobs: readonly Job[], onRun: (run: JobRun) => void): { stop(): void } {
  const running = new Set<Job>();
  const timers = jobs.map((job) =>
    setInterval(() => {
      if (running.has(job)) return;
      running.add(job);
      const startedAt = performance.now();
      const report = (error: unknown) =>
        onRun({ name: job.name, durationMs: performance.now() - startedAt, error });
      job
        .run()
        .then(() => report(null), report)
        .finally(() => running.delete(job));
    }, job.everyMs).unref(),
  );
  return {
    stop: () => {
      for (const timer of timers) clearInterval(timer);
    },
  };
}
