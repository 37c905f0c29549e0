import { fingerprintConsumption } from "../../entitlement/consumption.ts";
import { shortHash } from "../../entitlement/fingerprint.ts";
import { decideBatch } from "../../runtime/commit/decide-batch.ts";
import type { RuntimeRequest } from "../../runtime/commit/request.ts";
import { readConsumption } from "../../runtime/consume/consume-feature.ts";
import { readEvent } from "../../runtime/events/read-event.ts";
import { customerKey } from "../../store/cell/customers.ts";
import { assert } from "../../words/assert.ts";
import { brandAs, type IdempotencyKey, type Instant } from "../../words/brand.ts";
import { publicId } from "../../words/public-id.ts";
import { uuidV7 } from "../../words/uuid.ts";
import type { RuntimeAct } from "./act.ts";
import type { Known, Moment, World } from "./moment.ts";

/** What the service would have answered and written, had the product's backend asked it then. */
export function ask(world: World, known: Known, act: RuntimeAct & { readonly at: Instant }): Moment {
  const { environmentId, customerId, customerNumber, wallet } = known;
  const pending = {
    request: toRequest(world, known, act),
    enqueuedAtMs: 0,
    settle: () => {},
    name: null,
    isUncertain: false,
    skips: 0,
  };
  const plan = decideBatch([pending], {
    wallets: [{ ...known, readWallet: () => wallet, isMissing: false }],
    keyedRequests: [],
    storedEvents: new Set(),
    customers: [{ environmentId, customerId, number: customerNumber }],
    newcomers: new Map(),
    catalogs: new Map([[environmentId, world.catalog]]),
    now: act.at,
  });
  assert(plan.outcomes[0]?.kind === "answered", "the demo asks nothing that is refused");
  const after = plan.changedWallets.get(customerKey(known))?.wallet ?? wallet;
  return { ...plan, at: act.at, wallet: after, audits: [] };
}

function toRequest(
  { projectId }: World,
  known: Known,
  act: RuntimeAct & { readonly at: Instant },
): RuntimeRequest {
  const { environmentId, customerId } = known;
  const { quantity, metadata } = act;
  const sender = {
    projectId,
    environmentId,
    customerId,
    requestId: publicId("req", uuidV7(act.at)),
    // The demo's metadata is small by any plan.
    metadataLimits: { bytesMax: 1_000, keysMax: 10, depthMax: 2 },
  };
  if (act.kind === "event") {
    const event = readEvent({ customerId, event: act.event, quantity, metadata });
    return { ...sender, endpoint: "events", keyed: null, event };
  }
  const consumption = readConsumption({ customerId, feature: act.feature, quantity, metadata });
  const key = brandAs<IdempotencyKey>(act.key);
  const fingerprint = fingerprintConsumption(consumption);
  return {
    ...sender,
    endpoint: "consume",
    keyed: { projectId, key, keyHash: shortHash(key), fingerprint },
    consumption,
  };
}
