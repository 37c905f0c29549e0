import { Type } from "typebox";
import { ledgerBalanceOf, type Wallet } from "../../entitlement/wallet.ts";
import type { Tx } from "../../postgres/statement.ts";
import { snapshot } from "../../postgres/transaction.ts";
import { brandAs, type CustomerNumber, type Instant, type PoolId } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { findCustomerRecord } from "../../store/cell/customer-list.ts";
import { holdLedger } from "../../store/cell/usage/attached-months.ts";
import { readBalances, readEntryTimes } from "../../store/cell/usage/balances.ts";
import { listBuckets } from "../../store/cell/usage/buckets.ts";
import { CUSTOMER_PATH, customerIdOf, customerNotFound, customerParams } from "../customers/operations.ts";
import { timeField } from "../fields.ts";
import { type Operation, operation, scopeOf } from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { refuseDetachedLedger } from "../refuse-detached-ledger.ts";
import { rangeOfCall, USAGE_NOUN } from "./operations.ts";
import { describeRange, divisionQuery, rangeAnswer, rangeQuery, readDivision } from "./range.ts";
import { getPool } from "./scope.ts";

export function balanceOperation(parts: ManageParts): Operation {
  return operation({
    method: "GET",
    path: `${CUSTOMER_PATH}/balance-history`,
    access: { role: "viewer", in: "environment" },
    id: "chartBalance",
    noun: USAGE_NOUN,
    summary: "Show a customer's balance over time",
    description:
      "Returns a pool's balance at the end of each bucket, from the ledger. Expiries appear once a background job or the " +
      "customer's next request has recorded them. Renewals appear after the customer's next request.",
    params: customerParams,
    query: Type.Object(
      {
        pool: Type.Optional(
          Type.String({
            maxLength: 120,
            description: "The pool key. Default: `credits`.",
            examples: ["credits"],
          }),
        ),
        ...rangeQuery,
        ...divisionQuery,
      },
      { additionalProperties: false },
    ),
    answer: Type.Object({
      ...rangeAnswer,
      pool: Type.String({ examples: ["credits"] }),
      opening: Type.Integer({ description: "The balance just before `from`.", examples: [900] }),
      points: Type.Array(
        Type.Object({
          at: timeField,
          balance: Type.Integer({
            description:
              "The balance at the end of the bucket, or at the end of the range if that is earlier.",
            examples: [750],
          }),
        }),
      ),
    }),
    codes: ["ledger_detached"],
    handle: async (call) => {
      const { environmentId } = scopeOf(call);
      const range = await rangeOfCall(parts, call, { isDivided: true });
      const division = await readDivision(parts.cellOf(scopeOf(call)), call.query);
      const { pool = "credits" } = call.query;
      return snapshot(parts.cellOf(scopeOf(call)), async (tx) => {
        await holdLedger(tx);
        const record = await findCustomerRecord(tx, { environmentId, customerId: customerIdOf(call) });
        if (record === null) throw customerNotFound();
        await refuseDetachedLedger(tx, range.from);
        const poolId = getPool(await loadCatalog(tx, environmentId), pool);
        const buckets = await listBuckets(tx, range, division);
        const ends = buckets.map(({ until }) => until);
        const customer = {
          number: brandAs<CustomerNumber>(record.customerNumber),
          wallet: record.wallet,
        };
        const [opening = 0, ...balances] = await balancesAt(tx, customer, poolId, [range.from, ...ends]);
        return {
          ...describeRange(range),
          pool,
          opening,
          points: buckets.map(({ at }, index) => ({
            at: formatTimestamp(at),
            balance: balances[index] ?? 0,
          })),
        };
      });
    },
  });
}

/**
 * Reads a pool's balance just before each moment. Moments must be sorted, and no month since the first moment may be detached.
 * Entries are numbered in order of time, so a binary search with about thirty lookups finds the last entry before each moment.
 */
async function balancesAt(
  tx: Tx,
  { number, wallet }: { readonly number: CustomerNumber; readonly wallet: Wallet },
  pool: PoolId,
  moments: readonly Instant[],
): Promise<number[]> {
  const sequences = await findLastEntries(tx, number, wallet.sequence, moments);
  const known = await readBalances(tx, number, pool, [...new Set(sequences)]);
  // Computed backward, because a moment without a known entry has the balance of the next moment.
  const balances: number[] = [];
  for (const sequence of sequences.toReversed())
    balances.push(known.get(sequence) ?? balances.at(-1) ?? ledgerBalanceOf(wallet, pool));
  return balances.reverse();
}

/** Finds the number of the last entry before each moment. The number is 0 if no entry is earlier. */
async function findLastEntries(
  tx: Tx,
  number: CustomerNumber,
  lastSequence: number,
  moments: readonly Instant[],
): Promise<number[]> {
  const ranges = moments.map((moment) => ({ moment, low: 0, high: lastSequence }));
  for (;;) {
    const open = ranges.filter(({ low, high }) => low < high);
    if (open.length === 0) return ranges.map(({ low }) => low);
    const middles = new Set(open.map(middleOf));
    const times = await readEntryTimes(tx, number, [...middles]);
    for (const range of open) {
      const middle = middleOf(range);
      // A missing entry is in a detached month, which is before all requested moments.
      if ((times.get(middle) ?? Number.NEGATIVE_INFINITY) < range.moment) range.low = middle;
      else range.high = middle - 1;
    }
  }
}

function middleOf({ low, high }: { readonly low: number; readonly high: number }): number {
  return Math.ceil((low + high) / 2);
}
