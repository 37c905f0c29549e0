import { PROBLEMS } from "../../edge/problem.ts";
import { hashKey } from "../../entitlement/key-hash.ts";
import { readRefused } from "../../runtime/request-log.ts";
import type { LoggedRequest } from "../../store/cell/request-log.ts";
import type { Instant } from "../../words/brand.ts";
import type { RuntimeAct } from "./act.ts";
import { openChance } from "./chance.ts";
import type { Customer } from "./moment.ts";

/** How a request went, as far as the log cares. */
export type Noted = {
  readonly code: "idempotency_key_reused" | "feature_not_found" | null;
  readonly reason: string | null;
  readonly isReplay: boolean;
};

/** What the log says of a request. Only how long it took is made up: nobody waited for it. */
export function describeRequest(
  { environmentId, customerId }: Customer,
  act: RuntimeAct & { readonly at: Instant },
  { requestId, code, reason, isReplay }: Noted & { readonly requestId: string },
): Omit<LoggedRequest, "ageMs"> {
  const chance = openChance(act.at);
  const [fast, slow] = act.kind === "check" ? [600, 2_600] : [2_100, 9_400];
  return {
    environmentId,
    requestId,
    endpoint: act.kind === "event" ? "events" : act.kind,
    status: code === null ? 200 : PROBLEMS[code].status,
    code,
    reason,
    isReplay,
    customerId,
    subject: act.kind === "event" ? act.event : act.feature,
    keyHash: act.kind === "consume" ? hashKey(act.key) : null,
    durationMs: chance.between(fast, slow) / 1000,
    refused: code === "idempotency_key_reused" ? readRefused(act) : null,
    occurredAt: null,
  };
}
