import { decodeWalletState, encodeWalletState } from "../../service/src/store/cell/wallet-state.ts";
import { brandAs, type Instant } from "../../service/src/words/brand.ts";
import type { BenchServer } from "../bench/server.ts";

type Options = { database: string; environmentId: number; customerId: string; entries: number };

/** Repeats a customer's last consume until the ledger has so many entries, and makes the wallet agree. */
export async function copyLastConsume(server: Pick<BenchServer, "query">, options: Options): Promise<void> {
  const { database, environmentId, customerId, entries } = options;
  const [row = {}] = await server.query(
    database,
    `select w.customer_number, w.sequence, w.state
     from cell.customers as c
     join cell.wallets as w on w.environment_id = c.environment_id and w.customer_number = c.number
     where c.environment_id = ${environmentId} and c.customer_id = '${customerId}'`,
  );
  const number = Number(row["customer_number"]);
  const sequence = Number(row["sequence"]);
  const copies = entries - sequence;
  const [last = {}] = await server.query(
    database,
    `insert into cell.ledger (
       recorded_at, customer_number, sequence, amount, balance_after, effective_at, environment_id, pool_id, feature_id,
       quantity, plan_version_id, assignment_number, kind, parts
     )
     select
       e.recorded_at, e.customer_number, e.sequence + n, e.amount, e.balance_after + n * e.amount, e.effective_at,
       e.environment_id, e.pool_id, e.feature_id, e.quantity, e.plan_version_id, e.assignment_number, e.kind, e.parts
     from cell.ledger as e, generate_series(1, ${copies}) as n
     where e.customer_number = ${number} and e.sequence = ${sequence} and e.kind = 2
     order by n
     returning amount, quantity`,
  );
  const wallet = decodeWalletState(String(row["state"]), {
    sequence,
    decidedAt: brandAs<Instant>(0),
    isBlocked: false,
  });
  const { assignment, grants } = wallet;
  const state = encodeWalletState({
    ...wallet,
    grants: grants.map((grant) => ({
      ...grant,
      remaining: grant.remaining + copies * Number(last["amount"]),
    })),
    assignment: assignment && {
      ...assignment,
      counters: assignment.counters.map((counter) => ({
        ...counter,
        used: counter.used + copies * Number(last["quantity"]),
      })),
    },
  });
  await server.query(
    database,
    `update cell.wallets
     set
       sequence = ${entries},
       balance = balance + ${copies} * ${Number(last["amount"])},
       state = '${state}'
     where environment_id = ${environmentId} and customer_number = ${number}`,
  );
}
