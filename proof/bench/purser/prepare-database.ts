import { assignPlan } from "../../../service/src/manage/customers/assign-plan.ts";
import { brandAs, type CustomerId } from "../../../service/src/primitives/brand.ts";
import { CUSTOMERS } from "../../harness/calls.ts";
import { withPool } from "../../harness/database.ts";
import { copyCustomer } from "../../harness/fill-customers.ts";
import type { PostgresServer } from "../../harness/postgres.ts";
import { openProject } from "../../harness/project.ts";

/** Creates a catalog, and customers who all have a plan. Returns an API key. */
export async function prepareDatabase(
  server: Pick<PostgresServer, "url" | "query">,
  database: string,
): Promise<string> {
  const url = server.url(database);
  const { context, apiKey } = await openProject(url);
  const customerId = brandAs<CustomerId>("customer_1");
  const assigned = await withPool(url, (pool) =>
    assignPlan(pool, context, { customerId, plan: "wide", anchor: null }),
  );
  if (assigned.kind !== "changed") throw new Error(`could not assign the plan: ${assigned.kind}`);
  const query = (text: string) => server.query(database, text);
  await copyCustomer({ query }, context.environmentId, CUSTOMERS);
  return apiKey;
}
