import type { Instant } from "../words/brand.ts";
import type { Catalog } from "./catalog.ts";
import { catchUp } from "./catch-up.ts";
import { Draft, decisionTime } from "./draft.ts";
import type { Change } from "./entry.ts";
import type { Wallet } from "./wallet.ts";

/** A wallet as the next decision would find it: with all that is due applied, and nothing written. */
export function viewWallet(catalog: Catalog, wallet: Wallet, clock: Instant): Wallet {
  const draft = new Draft(wallet);
  catchUp(catalog, draft, decisionTime(catalog, wallet, clock));
  return draft.wallet;
}

/** What the next decision would write of what is due by now, before it decides anything. Null: nothing is due. */
export function viewDue(catalog: Catalog, wallet: Wallet, clock: Instant): Change | null {
  const now = decisionTime(catalog, wallet, clock);
  const draft = new Draft(wallet);
  catchUp(catalog, draft, now);
  return draft.finish(now);
}
