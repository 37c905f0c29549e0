import { CUSTOMERS } from "../../harness/calls.ts";
import { fillWithPlan } from "../../harness/fill-customers.ts";
import type { PostgresServer } from "../../harness/postgres.ts";
import { openProject } from "../../harness/project.ts";

/** Creates a catalog, and customers who all have a plan. Returns an API key. */
export async function prepareDatabase(
  server: Pick<PostgresServer, "url">,
  database: string,
  customers: number = CUSTOMERS,
): Promise<string> {
  const url = server.url(database);
  const { context, apiKey } = await openProject(url);
  await fillWithPlan(url, context, customers);
  return apiKey;
}
