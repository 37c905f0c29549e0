import { openHolds } from "./holds.ts";
import { setupManage } from "./manage.ts";
import { PRO } from "./seed.ts";

/** Ada's plan "pro" has 100 credits a month and this overage. image.render costs 10. */
export async function setupOverage(overage: number | null = 50) {
  const managed = await setupManage();
  const { manage, here } = managed;
  /** Publishes a version for all customers of the plan, with this overage. */
  const publish = async (allowed: number | null, key = "pro") => {
    const allowances = [{ credits: 100, period: "month", overage: allowed }];
    const body = { name: PRO.name, features: PRO.features, allowances };
    const draft = await manage("PUT", `${here}/plans/${key}/draft`, { body });
    if (draft.status !== 200) return draft;
    return manage("POST", `${here}/plans/${key}/publish`, { body: { reach: "now" } });
  };
  const published = await publish(overage);
  if (published.status !== 200) throw new Error(published.text);
  let count = 0;
  /** Charges "ada" with a new key. `body` overrides fields. */
  const consume = (body: object) =>
    managed.consume({ customerId: "ada", idempotencyKey: `over-${count++}`, ...body });
  return { ...managed, ...openHolds(managed), publish, consume };
}
