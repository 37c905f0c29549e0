import { decide } from "../../entitlement/decide.ts";
import { WalletChanges } from "../../store/cell/wallet-changes.ts";
import { brandAs, type FeatureKey, type Instant } from "../../words/brand.ts";
import { publicId } from "../../words/public-id.ts";
import { uuidV7 } from "../../words/uuid.ts";
import type { RuntimeAct } from "./act.ts";
import { describeRequest } from "./describe-request.ts";
import type { Known, Moment, World } from "./moment.ts";

type Checking = Extract<RuntimeAct, { kind: "check" }> & { readonly at: Instant };

/** A check: decided like a consume, and what it would have changed is thrown away. */
export function askOnly({ catalog }: World, known: Known, act: Checking): Moment {
  const question = { feature: brandAs<FeatureKey>(act.feature), quantity: act.quantity };
  const decision = decide(catalog, known.wallet, question, act.at);
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
