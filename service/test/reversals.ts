import { brandAs, type Instant } from "../src/primitives/brand.ts";
import { consumeId as nameConsume, readConsumeId } from "../src/primitives/consume-id.ts";
import { parsePublicId, publicId } from "../src/primitives/public-id.ts";
import { post, type Reply } from "./harness.ts";
import { type Managed, setupManage } from "./manage.ts";

export type Reversals = Managed & {
  /** Charges "ada" with a new key, and returns the consume ID. `body` overrides fields. */
  charge(body: object): Promise<string>;
  /** Reverses a charge of "ada" with an API key that has only the `reverse` scope. */
  reverse(consumeId: string, body?: object, url?: string): Promise<Reply>;
  /** Reverses a charge of "ada" with a management token. */
  reverseByHand(consumeId: string, body?: object): Promise<Reply>;
  balance(): Promise<number>;
};

/** The catalog of `setupCredits`, and an API key "Refunds". Ada has 100 credits. */
export async function setupReversals(): Promise<Reversals> {
  const managed = await setupManage();
  const { manage, service, consume } = managed;
  const key = await manage("POST", "api-keys", { body: { name: "Refunds", scopes: ["reverse"] } });
  const secret = String(key.body["secret"]);
  let count = 0;
  return {
    ...managed,
    charge: async (body) => {
      const reply = await consume({ customerId: "ada", idempotencyKey: `charge-${count++}`, ...body });
      if (reply.body["allowed"] !== true) throw new Error(`not charged: ${reply.text}`);
      return String(reply.body["consumeId"]);
    },
    reverse: (consumeId, body = {}, url = service.url) =>
      post(`${url}/v1/consume/${consumeId}/reverse`, secret, { customerId: "ada", ...body }),
    reverseByHand: (consumeId, body = {}) =>
      manage("POST", `customers/ada/consumes/${consumeId}/reverse`, { body }),
    balance: async () => {
      const reply = await managed.check({ customerId: "ada", feature: "export" });
      return Number(reply.body["balance"]);
    },
  };
}

/**
 * Makes all charges older. The IDs of charges contain their time, so the IDs change too. Returns a function that maps old IDs to new IDs.
 */
export async function ageCharges({ database }: Managed, ms: number): Promise<(consumeId: string) => string> {
  await database.query("select cell.ensure_monthly_partitions(3, 0)");
  await database.query("set session_replication_role = replica");
  await database.query("update cell.ledger set recorded_at = recorded_at - make_interval(secs => $1)", [
    ms / 1_000,
  ]);
  await database.query("set session_replication_role = origin");
  return (consumeId) => {
    const uuid = parsePublicId("con", consumeId);
    if (uuid === null) throw new Error(`${consumeId} is not a consume ID`);
    const id = readConsumeId(uuid);
    return publicId("con", nameConsume({ ...id, recordedAt: brandAs<Instant>(id.recordedAt - ms) }));
  };
}
