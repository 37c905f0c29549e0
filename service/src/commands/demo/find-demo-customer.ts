import type { Pool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import { brandAs, type CustomerId } from "../../primitives/brand.ts";
import { hashSecret } from "../../primitives/secret.ts";
import { findCustomers } from "../../store/cell/customers.ts";
import { findLiveApiKeys } from "../../store/control/api-keys.ts";
import { RICH_COMPANY } from "./companies.ts";

/** The feature of the printed `curl`. */
export const DEMO_FEATURE = "image.generate";

/** A demo customer with credits, or null if the environment has no demo. */
export async function findDemoCustomer(pool: Pool, testKey: string): Promise<CustomerId | null> {
  const key = (await single(pool, (tx) => findLiveApiKeys(tx, [hashSecret(testKey)]))).get(0);
  if (key === undefined) return null;
  const name = { environmentId: key.environmentId, customerId: brandAs<CustomerId>(RICH_COMPANY) };
  const [customer] = await single(pool, (tx) => findCustomers(tx, [name]));
  return customer?.customerId ?? null;
}
