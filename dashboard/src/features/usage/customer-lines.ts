import type { Series, UsageShown } from "../../ui/usage/usage-series.ts";
import type { RankedCustomers } from "./queries.ts";

type Charted = {
  readonly series: UsageShown["series"];
  readonly usage: Pick<UsageShown["usage"], "from" | "to">;
};
type Ranked = Pick<RankedCustomers, "from" | "to" | "customers" | "other">;

/** The chart shows only the largest customers. The table also shows those that follow them. */
export function customerLines({ series, usage }: Charted, ranked: Ranked): readonly Series[] {
  // The end of an open range can move between the two calls.
  if (ranked.from !== usage.from || ranked.to !== usage.to) return series;
  const charted = series.filter(({ isOther }) => !isOther);
  const fill = "var(--series-other)";
  const following = withoutCharted(ranked.customers, charted).map(
    ({ customerId, customerName, ...total }, index): Series => ({
      id: `customer-${index}`,
      key: customerId,
      isOther: false,
      name: customerName ?? customerId ?? "Erased customer",
      fill,
      total,
    }),
  );
  const rest: Series = { id: "other", key: null, isOther: true, name: "Other", fill, total: ranked.other };
  return [...charted, ...following, ...(isZero(ranked.other) ? [] : [rest])];
}

/** Customers can change ranks between the two calls. Erased customers have no key, so they are only counted. */
function withoutCharted(customers: Ranked["customers"], charted: readonly Series[]): Ranked["customers"] {
  const keys = new Set(charted.map(({ key }) => key));
  let erased = charted.filter(({ key }) => key === null).length;
  return customers.filter(({ customerId }) => {
    if (customerId !== null) return !keys.has(customerId);
    erased -= 1;
    return erased < 0;
  });
}

/** Charges and their reversals in the range can cancel out in one measure only. */
function isZero({ count, quantity, credits }: Series["total"]): boolean {
  return count === 0 && quantity === 0 && credits === 0;
}
