import { type Managed, setupManage } from "../../service/test/manage.ts";
import { settle } from "../../service/test/usage.ts";

/** Customer `fast` runs out in about two days and `slow` in most of a year. `spent` has no credits left, `idle` uses none. */
export async function setupRunningOut(): Promise<Managed> {
  const managed = await setupManage();
  const { manage, topUp, assign, publish, consume, database } = managed;
  await publish({ key: "bare", name: "Bare", allowances: [] });
  for (const [customerId, quantity] of Object.entries({ fast: 90, slow: 5, idle: 0, spent: 100 })) {
    await assign(customerId, "bare");
    await topUp(customerId, 1_000);
    const charge = { customerId, feature: "image.render", idempotencyKey: customerId };
    if (quantity > 0) await consume({ ...charge, quantity });
  }
  await manage("PUT", "customers/fast", { body: { name: "Fast Films", email: "pay@fast.example" } });
  await settle(managed);
  await database.query("update cell.customers set created_at = created_at - interval '20 days'");
  return managed;
}
