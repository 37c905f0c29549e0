import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

/** Memory, garbage collection and event loop metrics, shared by all services in the process. */
const PROCESS = new Registry();
let isObserved = false;

export type PoolCounts = {
  readonly totalCount: number;
  readonly idleCount: number;
  /** Calls that wait for a connection. */
  readonly waitingCount: number;
  readonly sizeMax: number;
};

/** Values that are read at each scrape. */
type Sources = {
  readonly queueLengths: () => readonly number[];
  readonly bulkQueueLength: () => number;
  readonly pools: () => Readonly<Record<string, PoolCounts>>;
};

const NO_SOURCES: Sources = { queueLengths: () => [], bulkQueueLength: () => 0, pools: () => ({}) };

/** The metrics of `/metrics`. Label values come from fixed sets, so that callers cannot create new series. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests: Counter<"route" | "status" | "code">;
  readonly #durations: Histogram<"route">;
  readonly #batchSizes: Histogram;
  readonly #batchDurations: Histogram;
  readonly #batchFailures: Counter<"kind">;
  readonly #requestLogDrops: Counter<"why">;
  readonly #jobs: Counter<"name" | "outcome">;
  readonly #jobSeconds: Counter<"name">;
  readonly #jobSuccesses: Gauge<"name">;
  readonly #usageRows: Counter;
  readonly #unreadableWallets: Counter;
  readonly #webhookAttempts: Counter<"outcome">;
  readonly #webhookDue: Gauge;
  readonly #webhookLag: Gauge;
  readonly #databaseUp: Gauge;
  readonly #verifySound: Gauge<"kind">;
  readonly #verifyTimes: Gauge<"kind">;
  #usageCompleteAtMs: number | null = null;

  constructor({ queueLengths, bulkQueueLength, pools }: Sources = NO_SOURCES) {
    const registers = [this.#registry];
    // Called only once, because each call adds a garbage collection observer that is never removed.
    if (!isObserved) collectDefaultMetrics({ register: PROCESS });
    isObserved = true;
    this.#requests = new Counter({
      name: "purser_requests_total",
      help: "Requests that got a response, by route, status and problem code",
      labelNames: ["route", "status", "code"],
      registers,
    });
    this.#durations = new Histogram({
      name: "purser_request_seconds",
      help: "Time from the first byte to the response",
      labelNames: ["route"],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    });
    this.#batchSizes = new Histogram({
      name: "purser_batch_requests",
      help: "Requests committed in one transaction",
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
      registers,
    });
    this.#batchDurations = new Histogram({
      name: "purser_batch_seconds",
      help: "Duration of one transaction, including its commit",
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
      registers,
    });
    this.#batchFailures = new Counter({
      name: "purser_batch_failures_total",
      help: "Transactions that failed, by kind",
      labelNames: ["kind"],
      registers,
    });
    this.#requestLogDrops = new Counter({
      name: "purser_request_log_dropped_total",
      help: "Requests not written to the request log: successes beyond the sample, or any request while the buffer is full",
      labelNames: ["why"],
      registers,
    });
    this.#jobs = new Counter({
      name: "purser_job_runs_total",
      help: "Runs of each job in this process, by outcome",
      // Not `job`: Prometheus uses that label for the scrape configuration.
      labelNames: ["name", "outcome"],
      registers,
    });
    this.#jobSeconds = new Counter({
      name: "purser_job_seconds_total",
      help: "Time spent in each job in this process",
      labelNames: ["name"],
      registers,
    });
    this.#jobSuccesses = new Gauge({
      name: "purser_job_last_success_timestamp_seconds",
      help: "When each job last succeeded in this process",
      labelNames: ["name"],
      registers,
    });
    this.#usageRows = new Counter({
      name: "purser_usage_rows_total",
      help: "Events, charges and denials that this process added to the usage roll-ups",
      registers,
    });
    this.#unreadableWallets = new Counter({
      name: "purser_unreadable_wallets_total",
      help: "Wallets skipped by the expiry sweep because they are damaged or were written by a newer release",
      registers,
    });
    this.#webhookAttempts = new Counter({
      name: "purser_webhook_attempts_total",
      help: "Attempts of this process to deliver a notice to a webhook, by outcome: delivered or failed",
      labelNames: ["outcome"],
      registers,
    });
    this.#webhookDue = new Gauge({
      name: "purser_webhook_due_deliveries",
      help: "Due deliveries of webhooks that do not fail, in all processes. At most 10,000 of each webhook are counted",
      registers,
    });
    this.#webhookLag = new Gauge({
      name: "purser_webhook_lag_seconds",
      help: "How long the oldest of these deliveries has been due",
      registers,
    });
    this.#databaseUp = new Gauge({
      name: "purser_database_up",
      help: "1 if the process's last round trip reached the database, 0 if not. Checked every second",
      registers,
    });
    // A service starts only after a query has succeeded, so the database was reachable a moment ago.
    this.#databaseUp.set(1);
    this.#verifySound = new Gauge({
      name: "purser_verify_sound",
      help: "1 if the last purser verify of this kind found no problem, 0 if it found one",
      labelNames: ["kind"],
      registers,
    });
    this.#verifyTimes = new Gauge({
      name: "purser_verify_timestamp_seconds",
      help: "When the last purser verify of this kind ended",
      labelNames: ["kind"],
      registers,
    });
    const lag: Gauge = new Gauge({
      name: "purser_usage_lag_seconds",
      help: "Delay of the usage roll-ups: all usage older than this is included",
      registers,
      collect: () => {
        const completeAtMs = this.#usageCompleteAtMs;
        // NaN before the first success, because 0 would clear an alert.
        lag.set(completeAtMs === null ? Number.NaN : (performance.now() - completeAtMs) / 1000);
      },
    });
    const gauge: Gauge = new Gauge({
      name: "purser_queue_requests",
      help: "Requests waiting in the lanes",
      registers,
      collect: () => gauge.set(queueLengths().reduce((sum, length) => sum + length, 0)),
    });
    const bulk: Gauge = new Gauge({
      name: "purser_bulk_queue_events",
      help: "Batch events waiting in the bulk lanes",
      registers,
      collect: () => bulk.set(bulkQueueLength()),
    });
    this.#observePools(pools);
  }

  #observePools(pools: Sources["pools"]): void {
    const add = (name: string, help: string, read: (pool: PoolCounts) => number): void => {
      const gauge: Gauge<"pool"> = new Gauge({
        name,
        help,
        labelNames: ["pool"],
        registers: [this.#registry],
        collect: () => {
          for (const [pool, counts] of Object.entries(pools())) gauge.set({ pool }, read(counts));
        },
      });
    };
    add("purser_pool_connections", "Open database connections in each pool", ({ totalCount }) => totalCount);
    add(
      "purser_pool_connections_idle",
      "Idle database connections in each pool",
      ({ idleCount }) => idleCount,
    );
    add(
      "purser_pool_connections_max",
      "Maximum number of database connections in each pool",
      ({ sizeMax }) => sizeMax,
    );
    add(
      "purser_pool_waiting",
      "Calls waiting for a connection from each pool",
      ({ waitingCount }) => waitingCount,
    );
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Returns all metrics in Prometheus's text format. */
  async print(): Promise<string> {
    return (await Promise.all([PROCESS.metrics(), this.#registry.metrics()])).join("");
  }

  request(request: { route: string; status: number; code: string | null; durationMs: number }): void {
    this.#requests.inc({ route: request.route, status: request.status, code: request.code ?? "" });
    this.#durations.observe({ route: request.route }, request.durationMs / 1000);
  }

  batch(batch: { size: number; durationMs: number }): void {
    this.#batchSizes.observe(batch.size);
    this.#batchDurations.observe(batch.durationMs / 1000);
  }

  dropFromRequestLog(why: "sampled" | "full", count: number): void {
    this.#requestLogDrops.inc({ why }, count);
  }

  job({ name, durationMs, error }: { name: string; durationMs: number; error: unknown }): void {
    this.#jobs.inc({ name, outcome: error === null ? "done" : "failed" });
    this.#jobSeconds.inc({ name }, durationMs / 1000);
    if (error === null) this.#jobSuccesses.setToCurrentTime({ name });
  }

  /** `lagMs` was measured with the database's clock. After that, this process's clock adds the elapsed time. */
  usage({ rows, lagMs }: { rows: number; lagMs: number }): void {
    this.#usageRows.inc(rows);
    this.#usageCompleteAtMs = performance.now() - lagMs;
  }

  verifications(results: readonly { kind: string; isSound: boolean; finishedAt: number }[]): void {
    for (const { kind, isSound, finishedAt } of results) {
      this.#verifySound.set({ kind }, isSound ? 1 : 0);
      this.#verifyTimes.set({ kind }, finishedAt / 1000);
    }
  }

  database({ isUp }: { isUp: boolean }): void {
    this.#databaseUp.set(isUp ? 1 : 0);
  }

  webhookAttempt(isDelivered: boolean): void {
    this.#webhookAttempts.inc({ outcome: isDelivered ? "delivered" : "failed" });
  }

  webhookBacklog({ deliveries, lateSeconds }: { deliveries: number; lateSeconds: number }): void {
    this.#webhookDue.set(deliveries);
    this.#webhookLag.set(lateSeconds);
  }

  unreadableWallets(count: number): void {
    this.#unreadableWallets.inc(count);
  }

  batchFailure(kind: string): void {
    this.#batchFailures.inc({ kind });
  }
}
