import type { Operation } from "../src/manage/operation.ts";
import { openHolds } from "./holds.ts";
import type { Managed } from "./manage.ts";

/** Row IDs, by the path segment before the parameter. */
export type Rows = Readonly<Record<string, string>>;

/** Creates rows in the test environment and the workspace, one of each kind. */
export async function plantRows(managed: Managed): Promise<Rows> {
  const { consume, record, manage } = managed;
  const ask = (idempotencyKey: string, quantity: number) =>
    consume({ customerId: "ada", feature: "image.render", quantity, idempotencyKey });
  const { body: charge } = await ask("planted-charge", 1);
  await ask("planted-denial", 1_000);
  const { body: event } = await record({ customerId: "ada", event: "planted", quantity: 1 });
  const holdId = await openHolds(managed).open({ feature: "text.generate" });
  const url = "https://hooks.example/purser";
  const { body: hook } = await manage("POST", "webhooks", { body: { url } });
  const webhook = (hook["webhook"] as { id: string }).id;
  const { body: test } = await manage("POST", `webhooks/${webhook}/test`);
  const idOf = async (path: string): Promise<string> => {
    const { body } = await manage("GET", path);
    const [first] = body["items"] as { id: string | number }[];
    return String(first?.id);
  };
  return {
    customers: "ada",
    grants: "1",
    holds: holdId,
    consumes: String(charge["consumeId"]),
    features: "image.render",
    plans: "pro",
    "api-keys": await idOf("api-keys"),
    keys: "planted-charge",
    events: String(event["eventId"]),
    denials: await idOf("customers/ada/denials"),
    members: await idOf("/manage/v1/members"),
    passkeys: "1",
    tokens: await idOf("/manage/v1/tokens"),
    audit: await idOf("audit?action=plan.assigned"),
    webhooks: webhook,
    deliveries: String(test["noticeId"]),
  };
}

/** The path of an operation on these rows. */
export function pathOf(
  { path }: Operation,
  scope: { projectId: number; environment: string },
  rows: Rows,
): string {
  return path
    .replace(":projectId", String(scope.projectId))
    .replace(":environment", scope.environment)
    .replaceAll(/([a-z-]+)\/:\w+/g, (_, folder: string) => `${folder}/${rows[folder]}`);
}
