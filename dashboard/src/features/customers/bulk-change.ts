import type { Answer } from "../../api/answer.ts";
import type { Customer } from "./queries.ts";

/** The effect of a change on one customer. `after` is null if nothing changes. */
export type Effect = { readonly customer: Customer; readonly before: string; readonly after: string | null };

export type BulkOutcome = Pick<
  Answer<"addCreditsInBulk">,
  "changed" | "unchanged" | "refused" | "auditEntryId"
>;

/** Changes these customers in one call, which must be safe to repeat. */
export type BulkChange = (customerIds: readonly string[], signal: AbortSignal) => Promise<BulkOutcome>;
