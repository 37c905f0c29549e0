import { PROBLEMS } from "../../edge/problem.ts";
import { fingerprintConsumption } from "../../entitlement/consumption.ts";
import { decide } from "../../entitlement/decide.ts";
import { hashKey } from "../../entitlement/key-hash.ts";
import { assert } from "../../primitives/assert.ts";
import { brandAs, type FeatureKey, type IdempotencyKey, type Instant } from "../../primitives/brand.ts";
import { publicId } from "../../primitives/public-id.ts";
import { uuidV7 } from "../../primitives/uuid.ts";
import { decideBatch } from "../../runtime/commit/decide-batch.ts";
import type { Outcome, RuntimeRequest } from "../../runtime/commit/request.ts";
import { readConsumption } from "../../runtime/consume/route.ts";
import { readEvent } from "../../runtime/events/read-event.ts";
import { readSettlement } from "../../runtime/holds/change-routes.ts";
import { readRefused } from "../../runtime/read-refused.ts";
import type { LoggedRequest } from "../../store/cell/request-log.ts";
import { WalletChanges } from "../../store/cell/wallet-changes.ts";
import type { RuntimeAct } from "./act.ts";
import { openChance } from "./chance.ts";
import { type Customer, findHold, findKeyedRequest, type Known, type Moment, type World } from "./moment.ts";

type Asking = Exclude<RuntimeAct, { kind: "check" }> & { readonly at: Instant };

/** Decides a runtime request as the service would have decided it at that time. */
export function ask(world: World, known: Known, act: Asking, past: readonly Moment[]): Moment {
  const { environmentId, customerId, customerNumber, wallet } = known;
  const request = toRequest(world, known, act, past);
  const earlier = act.kind === "consume" ? findKeyedRequest(past, act.key) : null;
  const pending = {
    request,
    enqueuedAtMs: 0,
    settle: () => {},
    name: null,
    isUncertain: false,
    skips: 0,
    fetches: 0,
  };
  const plan = decideBatch([pending], {
    wallets: [
      {
        ...known,
        readWallet: () => wallet,
        isMissing: false,
        holdsUntil: wallet.holdsUntil,
        decidedAt: null,
      },
    ],
    keyedRequests: earlier === null ? [] : [{ ...earlier, isEnded: false }],
    storedEvents: new Set(),
    holds: wallet.holds.map((hold) => ({ customerNumber, kind: "opened", hold, closing: null })),
    customers: [{ environmentId, customerId, number: customerNumber }],
    reservedNumbers: new Map(),
    catalogs: new Map([[environmentId, world.catalog]]),
    now: act.at,
    hasNewFormats: true,
  });
  const [outcome] = plan.outcomes;
  assert(
    outcome !== undefined && outcome.kind !== "locked" && outcome.kind !== "missing_data",
    "the demo's requests are answered",
  );
  const after = plan.changes.wallets.get(customerNumber)?.wallet ?? wallet;
  const logged = describeRequest(known, act, { requestId: request.requestId, ...noteOf(outcome) });
  return { ...plan, at: act.at, wallet: after, audits: [], logged };
}

/** Describes the outcome as the request log does. */
function noteOf(outcome: Outcome): Noted {
  switch (outcome.kind) {
    case "hold_changed":
      return { code: null, reason: outcome.reason, isReplay: outcome.replayed };
    case "answered":
      return { code: null, reason: outcome.answer.verdict?.reason ?? null, isReplay: outcome.replayed };
    case "key_reused":
      return { code: "idempotency_key_reused", reason: null, isReplay: false };
    case "feature_not_found":
      return { code: "feature_not_found", reason: null, isReplay: false };
    default:
      throw new Error(`unexpected demo outcome: ${outcome.kind}`);
  }
}

function toRequest({ projectId }: World, known: Known, act: Asking, past: readonly Moment[]): RuntimeRequest {
  const { environmentId, customerId, customerNumber } = known;
  const sender = {
    projectId,
    environmentId,
    customerId,
    requestId: publicId("req", uuidV7(act.at)),
    span: null,
    // The demo's metadata is within the limits of every plan.
    metadataLimits: { bytesMax: 1_000, keysMax: 10, depthMax: 2 },
  };
  if (act.kind === "settle") {
    const hold = findHold(past, act.key);
    assert(hold !== null, "the demo settles holds that were opened");
    const { openedAt, number } = hold;
    const action = readSettlement({ customerId, quantity: act.quantity });
    return {
      ...sender,
      endpoint: "hold_change",
      keyed: null,
      hold: { openedAt, customerNumber, number },
      action,
    };
  }
  const { quantity, memberId, metadata } = act;
  const member = memberId === undefined ? {} : { memberId };
  if (act.kind === "event") {
    const event = readEvent({ customerId, event: act.event, quantity, ...member, metadata });
    return { ...sender, endpoint: "events", keyed: null, event };
  }
  const consumption = readConsumption({ customerId, feature: act.feature, quantity, ...member, metadata });
  const key = brandAs<IdempotencyKey>(act.key);
  const duration =
    act.kind === "hold"
      ? ({ expiresInMs: act.expiresInSeconds * 1_000, onExpiry: "release" } as const)
      : null;
  const fingerprint = fingerprintConsumption(consumption, duration);
  return {
    ...sender,
    endpoint: act.kind === "hold" ? "holds" : "consume",
    keyed: { projectId, key, keyHash: hashKey(key), fingerprint },
    consumption,
    duration,
  };
}

type Checking = Extract<RuntimeAct, { kind: "check" }> & { readonly at: Instant };

/** Decides a check like a consume request, but changes nothing. */
export function askOnly({ catalog }: World, known: Known, act: Checking): Moment {
  const question = { feature: brandAs<FeatureKey>(act.feature), quantity: act.quantity };
  const decision = decide(catalog, known.wallet, [question], act.at);
  const logged = describeRequest(known, act, {
    requestId: publicId("req", uuidV7(act.at)),
    code: decision.kind === "decided" ? null : decision.kind,
    reason: decision.kind === "decided" ? decision.reason : null,
    isReplay: false,
  });
  return {
    at: act.at,
    wallet: known.wallet,
    changes: new WalletChanges(),
    denials: [],
    events: [],
    keyedRequests: [],
    audits: [],
    logged,
  };
}

/** The outcome of a request in the log. */
type Noted = {
  readonly code: "idempotency_key_reused" | "feature_not_found" | null;
  readonly reason: string | null;
  readonly isReplay: boolean;
};

const LOGGED_AS = {
  check: "check",
  consume: "consume",
  event: "events",
  hold: "holds",
  settle: "holds/settle",
} as const satisfies Record<RuntimeAct["kind"], LoggedRequest["endpoint"]>;

/** Returns the request's row in the request log. Only the duration is made up. */
function describeRequest(
  { environmentId, customerId }: Customer,
  act: RuntimeAct & { readonly at: Instant },
  { requestId, code, reason, isReplay }: Noted & { readonly requestId: string },
): Omit<LoggedRequest, "ageMs"> {
  const chance = openChance(act.at);
  const [fast, slow] = act.kind === "check" ? [600, 2_600] : [2_100, 9_400];
  return {
    environmentId,
    requestId,
    traceId: null,
    endpoint: LOGGED_AS[act.kind],
    status: code === null ? 200 : PROBLEMS[code].status,
    code,
    reason,
    isReplay,
    customerId,
    subject: act.kind === "event" ? act.event : act.kind === "settle" ? null : act.feature,
    keyHash: act.kind === "consume" || act.kind === "hold" ? hashKey(act.key) : null,
    durationMs: chance.between(fast, slow) / 1000,
    refused: code === "idempotency_key_reused" ? readRefused("consume", act) : null,
    occurredAt: null,
    counts: null,
  };
}
