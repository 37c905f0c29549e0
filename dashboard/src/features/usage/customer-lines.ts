import type { Series, UsageShown } from "../../ui/usage/usage-series.ts";
import type { RankedCustomers } from "./queries.ts";

type Charted = {
  readonly series: UsageShown["series"];
  readonly usage: Pick<UsageShown["usage"], "from" | "to">;
};
type Ranked = Pick<RankedCustomers, "from" | "to" | "customers" | "other">;

/** The chart shows only the customers with the most usage. The table also lists the customers after them. */
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

/**
 * Removes customers that the chart shows, because ranks can change between the two calls. Erased customers have no key, so they are removed
 * by number.
 */
function withoutCharted(customers: Ranked["customers"], charted: readonly Series[]): Ranked["customers"] {
  const keys = new Set(charted.map(({ key }) => key));
  let erased = charted.filter(({ key }) => key === null).length;
  return customers.filter(({ customerId }) => {
    if (customerId !== null) return !keys.has(customerId);
    erased -= 1;
    return erased < 0;
  });
}

/** Checks all three totals, because reversals can make one total zero without the others. */
function isZero({ count, quantity, credits }: Series["total"]): boolean {
  return count === 0 && quantity === 0 && credits === 0;
}
