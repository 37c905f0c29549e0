import { expect, test } from "vitest";
import { setupManage } from "../../../test/manage.ts";

test("adding the first credits in an environment needs no catalog and creates the pool", async () => {
  const { manage, project } = await setupManage();
  const live = `/manage/v1/projects/${project.projectId}/live`;
  const body = { credits: 5, kind: "purchase", price: { amount: 4900, currency: "eur" } };
  const preview = await manage("POST", `${live}/customers/a/credits/preview`, { body });
  expect(preview.body).toMatchObject({ outcome: "added", balanceBefore: 0, balanceAfter: 5 });
  const replies = await Promise.all(
    ["a", "b", "c"].map((id) => manage("POST", `${live}/customers/${id}/credits`, { body })),
  );
  expect(replies.map(({ body: answer }) => answer)).toEqual(
    Array(3).fill({ outcome: "added", grant: 1, balanceBefore: 0, balanceAfter: 5 }),
  );
  const grants = await manage("GET", `${live}/customers/a/grants`);
  expect(grants.body["items"]).toMatchObject([{ price: { amount: 4900, currency: "EUR" } }]);
  const other = await manage("POST", `${live}/customers/a/credits`, { body: { ...body, pool: "seconds" } });
  expect([other.status, other.body["code"]]).toEqual([422, "unknown_key"]);
});

test("reversing a charge with an impossible ID returns 404", async () => {
  const { manage } = await setupManage();
  const reply = await manage("POST", "customers/ada/consumes/con_7zzzzzzzzz00000000000000zz/reverse", {
    body: {},
  });
  expect([reply.status, reply.body["code"]]).toEqual([404, "not_found"]);
});
