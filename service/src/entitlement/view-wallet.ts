import type { Instant } from "../words/brand.ts";
import type { Catalog } from "./catalog.ts";
import { catchUp } from "./catch-up.ts";
import { Draft, decisionTime } from "./draft.ts";
import type { Wallet } from "./wallet.ts";

/** A wallet as the next decision would find it: with all that is due applied, and nothing written. */
export function viewWallet(catalog: Catalog, wallet: Wallet, clock: Instant): Wallet {
  const draft = new Draft(wallet);
  catchUp(catalog, draft, decisionTime(catalog, wallet, clock));
  return draft.wallet;
}
