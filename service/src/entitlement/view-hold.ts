import type { CustomerNumber, Instant } from "../primitives/brand.ts";
import { consumeId } from "../primitives/consume-id.ts";
import { nameHold } from "../primitives/hold-id.ts";
import { publicId } from "../primitives/public-id.ts";
import { formatTimestamp } from "../primitives/timestamp.ts";
import { type Catalog, getFeatureKey, getPool } from "./catalog.ts";
import type { HoldChangeKind } from "./entry.ts";
import { type Closing, creditsIn, overageIn, statusOf } from "./hold-answer.ts";
import { sumOf } from "./part-lists.ts";
import type { Hold } from "./wallet.ts";

/** A hold after its last change. */
export type HoldRecord = {
  readonly kind: HoldChangeKind;
  readonly hold: Hold;
  readonly sequence: number;
  readonly effectiveAt: Instant;
  readonly recordedAt: Instant;
  readonly answer: string | null;
  readonly metadata: string | null;
};

type Viewer = { readonly catalog: Catalog; readonly customerNumber: CustomerNumber; readonly now: Instant };

/** The holds that a history window shows. Holds that were opened before `since` are shown only while they are open. */
export function viewHolds(
  records: readonly HoldRecord[],
  { since, ...viewer }: Viewer & { readonly since: number | null },
) {
  return records.flatMap((record) => {
    const view = viewHold(record, viewer);
    return view.status === "open" || record.hold.openedAt >= (since ?? 0) ? [view] : [];
  });
}

/** A hold and how it ended, as shown in responses. */
export function viewHold(record: HoldRecord, { catalog, customerNumber, now }: Viewer) {
  const { kind, hold, answer, metadata } = record;
  const status = statusOf(kind, hold, now);
  const closing: Closing | null = answer === null ? null : JSON.parse(answer);
  const isCharged = status === "charged";
  const held = creditsIn(hold);
  const ended = closing ?? {
    late: false,
    creditsCharged: isCharged ? held : 0,
    creditsReleased: status === "open" || isCharged ? 0 : held,
    overageCredits: isCharged || status === "open" ? overageIn(hold) : 0,
    creditsBeyondHold: 0,
    creditsUncovered: 0,
    consumeId: kind === "charged" ? nameCharge(record, customerNumber) : null,
  };
  return {
    holdId: nameHold({ ...hold, customerNumber }),
    status,
    openedAt: formatTimestamp(hold.openedAt),
    expiresAt: formatTimestamp(hold.expiresAt),
    endedAt: status === "open" ? null : formatTimestamp(endOf(record)),
    onExpiry: hold.onExpiry,
    memberId: hold.memberId,
    metadata: metadata === null ? null : (JSON.parse(metadata) as Record<string, unknown>),
    creditsHeld: held,
    creditsCharged: ended.creditsCharged,
    creditsReleased: ended.creditsReleased,
    overageCredits: ended.overageCredits,
    creditsBeyondHold: ended.creditsBeyondHold,
    creditsUncovered: ended.creditsUncovered,
    late: ended.late,
    consumeId: ended.consumeId,
    items: hold.items.map((item, index) => ({
      feature: getFeatureKey(catalog, item.feature),
      pool: getPool(catalog, item.pool).key,
      quantity: item.quantity,
      creditsHeld: sumOf(item.parts),
      overageCredits: sumOf(item.overage),
      quantityUsed: closing?.items[index]?.quantity ?? (isCharged ? item.quantity : 0),
    })),
  };
}

/** When the hold ended. An expired hold ended at its expiry, even if its end is written later. */
function endOf({ kind, hold, effectiveAt }: HoldRecord): Instant {
  return kind === "settled" || kind === "released" ? effectiveAt : hold.expiresAt;
}

/** Returns the consume ID of a hold that was charged on expiry. The expiry wrote one charge per item, as its last entries. */
function nameCharge({ hold, sequence, recordedAt }: HoldRecord, customerNumber: CustomerNumber): string {
  const first = sequence - hold.items.length + 1;
  return publicId("con", consumeId({ recordedAt, customerNumber, sequence: first }));
}
