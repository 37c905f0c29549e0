import type { GrantKind } from "../../entitlement/wallet.ts";
import { brandAs, type Instant } from "../../primitives/brand.ts";
import type { GrantOrigin } from "../../store/cell/grants.ts";

/** Something that happens to one customer: what the product's backend asks, or what people and automation do. */
export type Act = { readonly at: Instant } & (RuntimeAct | ManageAct);

export type RuntimeAct =
  | { readonly kind: "check"; readonly feature: string; readonly quantity: number }
  | {
      readonly kind: "consume";
      readonly feature: string;
      readonly quantity: number;
      readonly metadata: object;
      readonly key: string;
    }
  | {
      readonly kind: "event";
      readonly event: string;
      readonly quantity: number;
      readonly metadata: object;
      /** The key of a consume: what was denied is not done, and so not measured. Null: it depends on none. */
      readonly ifAllowed: string | null;
    };

export type ManageAct =
  | { readonly kind: "assign"; readonly plan: string; readonly endsAt: Instant | null }
  | ({
      readonly kind: "add_credits";
      readonly by: "billing" | "support";
      readonly grant: Exclude<GrantKind, "allowance">;
      readonly credits: number;
      readonly expiresAt: Instant | null;
    } & GrantOrigin)
  /** Of the consume that was asked under this key. */
  | { readonly kind: "reverse"; readonly key: string };

export const DAY_MS = 86_400_000;

/** As long as the request log remembers; a little less, so that the first purge finds nothing. */
export const LOG_DAYS = 6.9;

/** The demo's history begins with this day, counted back from today. */
export const FIRST_DAY = 59;

/** `timeOn(now, 2, "14:03:27.518")`: the day before yesterday. Days are those of UTC, so that any day but today is past. */
export function timeOn(now: Instant, daysAgo: number, time: string): Instant {
  const [hours = 0, minutes = 0, seconds = 0] = time.split(":").map(Number);
  const midnight = Math.floor(now / DAY_MS) * DAY_MS - daysAgo * DAY_MS;
  return brandAs<Instant>(midnight + Math.round(((hours * 60 + minutes) * 60 + seconds) * 1000));
}
