import { ProxyWatch } from "../src/edge/proxy-watch.ts";
import { manageOperations } from "../src/manage/operations.ts";
import { FailedLogIns } from "../src/manage/people/failed-log-ins.ts";
import { LiveSessions } from "../src/manage/people/live-sessions.ts";
import { brandAs, type Instant } from "../src/primitives/brand.ts";
import { openTestPool } from "./seed.ts";

const NOWHERE = openTestPool("postgres://localhost:1/none");

/** All operations of the management API, to read their paths and access rules. They have no database. */
export const OPERATIONS = manageOperations({
  version: "0.0.0",
  publicUrl: null,
  startedAt: brandAs<Instant>(0),
  idempotencyDays: null,
  control: NOWHERE,
  proxies: new ProxyWatch([], () => {}),
  failedLogIns: new FailedLogIns(NOWHERE),
  sessions: new LiveSessions(NOWHERE, 3_600),
  signOn: null,
  cellOf: () => NOWHERE,
  cellNamed: () => NOWHERE,
  stopping: new AbortController().signal,
  webhooks: { allowPrivate: false },
  sandboxRequest: async () => ({ status: 200, isReplay: false, text: "{}" }),
});
