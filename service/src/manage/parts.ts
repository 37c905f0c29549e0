import type { ProxyWatch } from "../edge/proxy-watch.ts";
import type { Pool } from "../postgres/pool.ts";
import type { Instant } from "../primitives/brand.ts";
import type { FailedLogIns } from "./people/failed-log-ins.ts";
import type { LiveSessions } from "./people/live-sessions.ts";
import type { SandboxRequest } from "./sandbox-requests/send-sandbox-requests.ts";

/** What the operations of the management API stand on. */
export type ManageParts = {
  /** Of this release. */
  readonly version: string;
  /** Of this process. */
  readonly startedAt: Instant;
  /** How long an idempotency key is kept. Null: for ever. */
  readonly idempotencyDays: number | null;
  readonly proxies: ProxyWatch;
  readonly control: Pool;
  readonly failedLogIns: FailedLogIns;
  readonly sessions: LiveSessions;
  /** A project's rows are all in one cell. */
  readonly cellOf: (cell: string) => Pool;
  /** Aborted when this process is to stop: what is long and can be continued elsewhere ends with it. */
  readonly stopping: AbortSignal;
  /** The runtime, which is handed in: neither of the two imports the other. */
  readonly sandboxRequest: SandboxRequest;
};
