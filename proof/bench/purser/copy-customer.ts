import type { BenchServer } from "../server.ts";

/** What a customer has beside its row, all of it numbered within the customer: a copy under another number is whole. */
const TABLES = ["wallets", "grants", "assignments", "ledger"];

/** Makes `customer_2` and so on from `customer_1`, who came by its plan as any customer does. */
export async function copyCustomer(
  server: Pick<BenchServer, "query">,
  options: { database: string; environmentId: number; customers: number },
): Promise<void> {
  const { database, environmentId, customers } = options;
  await server.query(
    database,
    `insert into cell.customers (environment_id, customer_id, created_at)
     select c.environment_id, 'customer_' || n, c.created_at
     from cell.customers as c, generate_series(2, ${customers}) as n
     where c.environment_id = ${environmentId} and c.customer_id = 'customer_1'
     order by n`,
  );
  for (const table of TABLES) {
    const columns = await copiedColumns(server, database, table);
    await server.query(
      database,
      `insert into cell.${table} (customer_number, ${columns.join(", ")})
       select c.number, ${columns.map((column) => `t.${column}`).join(", ")}
       from cell.customers as first
       join cell.${table} as t on t.environment_id = first.environment_id and t.customer_number = first.number
       join cell.customers as c on c.environment_id = first.environment_id and c.number <> first.number
       where first.environment_id = ${environmentId} and first.customer_id = 'customer_1'
       order by c.number`,
    );
  }
}

async function copiedColumns(
  server: Pick<BenchServer, "query">,
  database: string,
  table: string,
): Promise<string[]> {
  const rows = await server.query(
    database,
    `select column_name
     from information_schema.columns
     where table_schema = 'cell'
       and table_name = '${table}'
       and is_identity = 'NO'
       -- A copy is written by a transaction of its own.
       and column_name not in ('customer_number', 'transaction_number')`,
  );
  return rows.map((row) => String(row["column_name"]));
}
