import { type Claim, type ClaimMistake, type ClaimState, isSame } from "./claim-state.ts";
import { after } from "./explore.ts";

/**
 * Purges a key after its retention time, so that it can be used again. A void replaces the charge before the claim is deleted. In the
 * opposite order, another payload could be charged while the charge is still stored. Claims of rejected requests are purged too.
 */
export function* purgeSteps(state: ClaimState, mistake: ClaimMistake | undefined) {
  const { claim: current, purge } = state;
  const isClaimFirst = mistake === "claim purged before its charge";
  if (purge.step === "off" && current !== null) {
    const stored = state.homes[current.home];
    const isCharged = stored?.kind === "settled" && stored.payload === current.payload;
    yield after(state, (copy) => {
      copy.purge = { step: isClaimFirst ? "claim" : "void", claim: current, isCharged };
    });
  }
  const purged = purge.claim;
  if (purge.step === "void" && purged !== null)
    yield after(state, (copy) => writeVoid(copy, purged, mistake));
  if (purge.step === "claim" && purged !== null)
    yield after(state, (copy) => {
      if (isSame(copy.claim, purged)) copy.claim = null;
      copy.purge.step = isClaimFirst ? "void" : "done";
    });
}

/** Runs at the home of the purged claim. Keeps a new charge, which has restarted the retention time. */
function writeVoid(copy: ClaimState, purged: Claim, mistake: ClaimMistake | undefined): void {
  const { purge } = copy;
  const stored = copy.homes[purged.home];
  if (stored?.kind === "settled" && !purge.isCharged && mistake !== "new charge purged") {
    purge.step = "done";
    return;
  }
  const generation = Math.max(purged.generation, stored?.kind === "void" ? stored.generation : 0);
  copy.homes[purged.home] = { kind: "void", generation };
  if (purge.isCharged) copy.charged = [];
  purge.step = mistake === "claim purged before its charge" ? "done" : "claim";
}
