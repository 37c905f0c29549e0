import { type Static, Type } from "typebox";
import { balanceOf, type Wallet } from "../../entitlement/wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import { snapshot } from "../../postgres/transaction.ts";
import type { Instant, PoolId } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import type { CustomerName } from "../../store/cell/customers.ts";
import { findLastBefore } from "../../store/cell/ledger-start.ts";
import { holdLedger } from "../../store/cell/usage/attached-months.ts";
import { type LedgerSum, sumLedger } from "../../store/cell/verify/sums.ts";
import { findWalletRow, type WalletRow } from "../../store/cell/verify/wallets.ts";
import { nullable, timeField } from "../fields.ts";
import { describeWindow, windowAnswer } from "../history-window.ts";
import { refuseDetachedLedger } from "../refuse-detached-ledger.ts";

export const Proof = Type.Object({
  checkedAt: timeField,
  isSound: Type.Boolean({
    description:
      "Whether the wallet is what its ledger comes to, in every pool, and no entry is missing or out of scope.",
  }),
  ...windowAnswer,
  entries: Type.Integer({
    description:
      "How many there are since the workspace's history window began; what came before is added up too, as all of it was brought forward.",
    examples: [1_284],
  }),
  pools: Type.Array(
    Type.Object({
      pool: Type.String({ examples: ["credits"] }),
      ledgerSum: Type.Integer({ description: "The sum of all amounts.", examples: [90] }),
      grantsLeft: nullable(
        Type.Integer({
          description: "What is left of the wallet's open grants. Null: the wallet cannot be read.",
          examples: [90],
        }),
      ),
      balance: Type.Integer({ description: "What the last entry says was left.", examples: [90] }),
    }),
    {
      description:
        "Of a sound wallet all three are equal. What fell due since the last request, an expiry or an allowance, is in none of them yet.",
    },
  ),
});

export type Proof = Static<typeof Proof>;

/** All of it is proved, and what lies before `since` is not counted. Null: there is no such customer. */
export function proveWallet(cell: Pool, name: CustomerName, since: Instant | null): Promise<Proof | null> {
  return snapshot(cell, async (tx) => {
    await holdLedger(tx);
    const row = await findWalletRow(tx, name);
    if (row === null) return null;
    const sums = await sumLedger(tx, row);
    const { pools: known } = await loadCatalog(tx, name.environmentId);
    const ids = new Set([...known.keys(), ...poolsOf(row.wallet), ...sums.map(({ pool }) => pool)]);
    const pools = [...ids].map((id) => describePool(id, known.get(id)?.key, row.wallet, sums));
    const isProven = isSound(row, sums, pools);
    const last = countAll(sums);
    if (!isProven && last < (row.wallet?.sequence ?? 0)) await refuseDetachedLedger(tx, null);
    const hidden =
      since === null ? 0 : await findLastBefore(tx, row, { last, at: since, isWholeSince: true });
    return {
      checkedAt: formatTimestamp(row.readAt),
      isSound: isProven,
      ...describeWindow(since),
      entries: last - hidden,
      pools,
    };
  });
}

function countAll(sums: readonly LedgerSum[]): number {
  return sums.reduce((total, sum) => total + sum.entries, 0);
}

function poolsOf(wallet: Wallet | null): PoolId[] {
  return (wallet?.grants ?? []).map(({ pool }) => pool);
}

function describePool(
  id: PoolId,
  key: string | undefined,
  wallet: Wallet | null,
  sums: readonly LedgerSum[],
): Proof["pools"][number] {
  const sum = sums.find(({ pool }) => pool === id);
  return {
    // One that nobody defined is a finding, and has no other name.
    pool: key ?? `#${id}`,
    ledgerSum: sum?.sum ?? 0,
    grantsLeft: wallet === null ? null : balanceOf(wallet, id),
    balance: sum?.balanceAfter ?? 0,
  };
}

function isSound(
  { wallet, balance, hasLaterEntries, lastGrant }: WalletRow,
  sums: readonly LedgerSum[],
  pools: Proof["pools"],
): boolean {
  if (wallet === null || hasLaterEntries || lastGrant !== wallet.grantCount) return false;
  return (
    countAll(sums) === wallet.sequence &&
    balance === wallet.grants.reduce((total, { remaining }) => total + remaining, 0) &&
    sums.every(({ sum, misfits }) => misfits === 0 && Number.isSafeInteger(sum)) &&
    pools.every(({ ledgerSum, grantsLeft, balance }) => ledgerSum === grantsLeft && ledgerSum === balance)
  );
}
