import { makeBusyCustomer } from "../manage/busy-customer.ts";
import { DATABASE, type ProofServer } from "../manage/server.ts";
import { Service } from "../manage/service.ts";
import { openShop, type Shop } from "../manage/shop.ts";
import { fillCustomers } from "../verify/fill-ledger.ts";

const ENTRIES_EACH = 9;
const BUSY_ENTRIES_MIN = 100;

/** One of each customer. */
const EVENTS = `
  insert into cell.events (recorded_at, id, environment_id, customer_number, event, quantity, occurred_at, request_id)
  select now(), gen_random_uuid(), environment_id, number, 'tokens.generated', 1, now(), 'fill'
  from cell.customers`;

export type Filled = { readonly service: Service; readonly shop: Shop; readonly entries: number };

/** Nine entries and an event for each of so many customers, and the others for a busy one, who was also denied, paid and moved often. */
export async function fillDatabase(
  server: ProofServer,
  wanted: { readonly customers: number; readonly entries: number },
  stack: AsyncDisposableStack,
): Promise<Filled> {
  const { customers } = wanted;
  const busyEntries = wanted.entries - customers * ENTRIES_EACH;
  if (busyEntries < BUSY_ENTRIES_MIN)
    throw new Error(`${customers} customers have ${customers * ENTRIES_EACH} entries; ask for some more`);
  const shop = await openShop(server);
  const { databaseUrl } = server;
  const service = await Service.start(databaseUrl, stack);
  const { url } = service;
  await fillCustomers(server, { database: DATABASE, databaseUrl, url, shop, plan: "pro", customers });
  await makeBusyCustomer(server, service, shop, busyEntries);
  await server.query(DATABASE, EVENTS);
  // What autovacuum does over days for rows that came over years; else it does so now, beside the first pages.
  await server.query(DATABASE, "vacuum (analyze)");
  const [row = {}] = await server.query(DATABASE, "select count(*) as entries from cell.ledger");
  return { service, shop, entries: Number(row["entries"]) };
}
