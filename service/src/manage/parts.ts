import type { ProxyWatch } from "../edge/proxy-watch.ts";
import type { Pool } from "../postgres/pool.ts";
import type { Instant } from "../primitives/brand.ts";
import type { Scope } from "../store/control/scopes.ts";
import type { TargetPolicy } from "../webhooks/target.ts";
import type { FailedLogIns } from "./people/failed-log-ins.ts";
import type { LiveSessions } from "./people/live-sessions.ts";
import type { SandboxRequest } from "./sandbox-requests/send-sandbox-requests.ts";
import type { Provider } from "./single-sign-on/provider.ts";

/** The only cell (data schema). It contains the data of all projects. */
export const MAIN_CELL = "main";

/** Dependencies of the management operations. */
export type ManageParts = {
  /** Version of this release. */
  readonly version: string;
  /** The time at which this process started. */
  readonly startedAt: Instant;
  /** Number of days for which idempotency keys are kept. Null means forever. */
  readonly idempotencyDays: number | null;
  readonly proxies: ProxyWatch;
  readonly control: Pool;
  /** The `PUBLIC_URL` setting, or null if it is not set. */
  readonly publicUrl: string | null;
  readonly failedLogIns: FailedLogIns;
  readonly sessions: LiveSessions;
  /** The provider of single sign-on. Null if it is not set up. */
  readonly signOn: Provider | null;
  /** Returns the project's share of the connections to its cell, the database with its catalog and customers. */
  readonly cellOf: (scope: Pick<Scope, "cell" | "projectId">) => Pool;
  /** Returns the connections to a cell, for work that is not limited to one project. */
  readonly cellNamed: (cell: string) => Pool;
  /** Aborted when this process stops, so that long calls end and can be resumed in another process. */
  readonly stopping: AbortSignal;
  readonly webhooks: TargetPolicy;
  /** Runs a request in the runtime. Passed in, because `manage` and `runtime` do not import each other. */
  readonly sandboxRequest: SandboxRequest;
};
