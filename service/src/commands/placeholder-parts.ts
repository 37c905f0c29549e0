import { ProxyWatch } from "../edge/proxy-watch.ts";
import type { ManageParts } from "../manage/parts.ts";
import { FailedLogIns } from "../manage/people/failed-log-ins.ts";
import { LiveSessions } from "../manage/people/live-sessions.ts";
import { openPool } from "../postgres/pool.ts";
import { brandAs, type Instant } from "../primitives/brand.ts";
import { VERSION } from "../primitives/version.ts";

/** A placeholder. No connection is opened, because no operation is called. */
const NOWHERE = { url: "postgres://localhost:1/none", name: "command", sizeMax: 1 };

/** Parts for commands that only describe the operations of the management API. */
export function placeholderParts(): ManageParts {
  const control = openPool({ ...NOWHERE, onIdleError: () => {} });
  return {
    version: VERSION,
    publicUrl: null,
    startedAt: brandAs<Instant>(0),
    idempotencyDays: null,
    proxies: new ProxyWatch([], () => {}),
    control,
    failedLogIns: new FailedLogIns(control),
    sessions: new LiveSessions(control, 3_600),
    signOn: null,
    cellOf: refuse,
    cellNamed: refuse,
    stopping: new AbortController().signal,
    webhooks: { allowPrivate: false },
    sandboxRequest: refuse,
  };
}

export function refuse(): never {
  throw new Error("this process cannot execute operations");
}
