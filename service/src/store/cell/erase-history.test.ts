import { expect, test } from "vitest";
import { setupManage } from "../../../test/manage.ts";
import { LIST_EVENTS_TO_ERASE } from "./erase-history.ts";

const OTHERS = 60_000;

type Node = { "Rows Removed by Filter"?: number; Plans?: Node[] };

test("an erasure reads only the customer's own events", async () => {
  const { database, record, manage } = await setupManage();
  for (const event of ["page.view", "page.view", "sign.in"]) {
    const reply = await record({ customerId: "jane", event, quantity: 1, metadata: { by: "jane" } });
    expect(reply.status).toBe(200);
  }
  await database.query(
    `insert into cell.events
       (recorded_at, id, occurred_at, customer_number, environment_id, quantity, event, request_id)
     select e.recorded_at, gen_random_uuid(), e.occurred_at, 999000 + i % 100, e.environment_id, 1, 'noise', 'req'
     from (select * from cell.events limit 1) as e, generate_series(1, $1::integer) as i`,
    [OTHERS],
  );
  await database.query("analyze cell.events");
  const [jane] = await database.query("select number from cell.customers where customer_id = 'jane'");
  const values = [jane?.["number"], "1970-01-01Z", "0".repeat(32), 1_000];
  const [row] = await database.query(
    `explain (analyze, buffers, format json) ${LIST_EVENTS_TO_ERASE.text}`,
    values,
  );
  const plans = row?.["QUERY PLAN"] as { Plan: Node & Record<string, number> }[] | undefined;
  const plan = plans?.[0]?.Plan;
  if (plan === undefined) throw new Error("the server explains its plan");
  expect(plan["Actual Rows"]).toBe(3);
  for (const node of nodesOf(plan)) expect(node["Rows Removed by Filter"] ?? 0).toBeLessThan(10);
  expect((plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0)).toBeLessThan(200);

  expect((await manage("DELETE", "customers/jane")).body).toEqual({ outcome: "erased" });
  expect(await database.count("cell.events", "metadata is not null")).toBe(0);
});

const SAME_MOMENT = 3_000;

test("events with the same timestamp are erased in batches of a thousand", { timeout: 60_000 }, async () => {
  const { database, record, manage } = await setupManage();
  await record({ customerId: "jane", event: "export.row", quantity: 1, metadata: { by: "jane" } });
  // Every sixth event has a key but no metadata. The events were recorded at several times.
  await database.query(
    `insert into cell.events
       (recorded_at, id, occurred_at, customer_number, environment_id, quantity, event, request_id, metadata)
     select e.recorded_at - i % 5 * interval '1 ms', gen_random_uuid(), e.occurred_at, e.customer_number,
       e.environment_id, 1, 'export.row', 'req', case when i % 6 > 0 then e.metadata end
     from (select * from cell.events) as e, generate_series(2, $1::integer) as i`,
    [SAME_MOMENT],
  );
  await database.query(
    `insert into cell.keyed_requests
       (project_id, key_hash, environment_id, recorded_at, fingerprint, subject_id, endpoint, answer_format, key)
     select 1, gen_random_uuid(), e.environment_id, e.recorded_at, gen_random_uuid(), e.id, 3, 1, 'jane/' || e.id
     from cell.events as e`,
  );
  await database.query(`
    create table cell.updates (changed bigint not null);
    create function cell.note_update() returns trigger language plpgsql security definer as $$
    begin
      insert into cell.updates select count(*) from changed;
      return null;
    end $$;
    create trigger note_update after update on cell.events
    referencing old table as changed for each statement execute function cell.note_update()`);

  expect((await manage("DELETE", "customers/jane")).body).toEqual({ outcome: "erased" });
  expect(await database.count("cell.events", "metadata is not null")).toBe(0);
  expect(await database.count("cell.keyed_requests", "key <> ''")).toBe(0);
  const [updates] = await database.query(
    "select max(changed)::integer as most, sum(changed)::integer as total from cell.updates",
  );
  expect(updates).toEqual({ most: expect.any(Number), total: (SAME_MOMENT * 5) / 6 });
  expect(updates?.["most"]).toBeLessThanOrEqual(1_000);
});

function nodesOf(node: Node): Node[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}
