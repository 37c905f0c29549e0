import { integerBetween } from "../../harness/chance.ts";
import type { PlanKey } from "../catalog.ts";

/** One customer takes a fifth of all consumes: every process wants its row all the time. */
const HOT = "customer_hot";
const HOT_ONE_IN = 5;
const RICH = 30;
/** Few enough that each runs dry within a run, is topped up, and runs dry again. */
const DRY = 10;
/** One request in this many names a customer nobody has seen, so that crashes also meet rows being created. */
const NEW_ONE_IN = 50;

/** All have a small allowance; the hot one and the rich have more credits than a run can burn beside it. */
export const CUSTOMERS: readonly {
  readonly customerId: string;
  readonly plan: PlanKey;
  readonly bought: number;
}[] = [
  { customerId: HOT, plan: "starter", bought: 1_000_000_000 },
  ...Array.from({ length: RICH }, (_, index) => ({
    customerId: `customer_rich_${index}`,
    plan: "starter" as const,
    bought: 100_000_000,
  })),
  ...Array.from({ length: DRY }, (_, index) => ({
    customerId: `customer_dry_${index}`,
    plan: "starter" as const,
    bought: 0,
  })),
];

export function pickConsumer(made: number): string {
  return integerBetween(0, HOT_ONE_IN) === 0 ? HOT : pickCustomer(made);
}

/** `made` makes a new customer's id like no other. */
export function pickCustomer(made: number): string {
  if (integerBetween(0, NEW_ONE_IN) === 0) return `customer_new_${made}`;
  const index = integerBetween(0, RICH + DRY);
  return index < RICH ? `customer_rich_${index}` : `customer_dry_${index - RICH}`;
}

/** Whom credits are added to: half of the time somebody who needs them. */
export function pickBuyer(): string {
  if (integerBetween(0, 2) === 0) return `customer_dry_${integerBetween(0, DRY)}`;
  return CUSTOMERS[integerBetween(0, CUSTOMERS.length)]?.customerId ?? HOT;
}
