import { expect, test } from "vitest";
import { connectTo } from "../../../test/harness.ts";
import { openHolds } from "../../../test/holds.ts";
import { setupManage } from "../../../test/manage.ts";

test.each(["undo", "move"])(
  "a hold that opens during the preview of the %s does not affect the preview",
  async (change) => {
    const managed = await setupManage();
    const { manage, database } = managed;
    const holds = openHolds(managed);
    const credits = { credits: 50, kind: "manual", reference: "r" };
    await manage("POST", "customers/ada/credits", { body: credits });
    await manage("PUT", "customers/bob", { body: {} });
    const { body } = await manage("GET", "audit?action=credits.added");
    const [entry] = body["items"] as { id: string }[];
    await holds.open({ feature: "image.render" });
    const client = await connectTo(database);
    await client.query("begin");
    // Blocks the preview after it has read the wallet, and before it reads the holds.
    await client.query("lock table cell.grants in access exclusive mode");
    const preview =
      change === "undo"
        ? manage("POST", `audit/${entry?.id}/undo/preview`)
        : manage("POST", "customers/ada/grants/2/move/preview", { body: { to: "bob" } });
    const isWaiting = "not granted and relation = 'cell.grants'::regclass";
    await expect.poll(() => database.count("pg_locks", isWaiting)).toBe(1);
    await holds.open({ feature: "image.render" });
    await client.query("rollback");
    expect(await preview).toMatchObject({ status: 200, body: { credits: 50 } });
  },
);
