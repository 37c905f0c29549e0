import { type Static, Type } from "typebox";
import { ledgerBalanceOf, type Wallet } from "../../entitlement/wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import { snapshot } from "../../postgres/transaction.ts";
import type { Instant, PoolId } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import type { CustomerName } from "../../store/cell/customers.ts";
import { findLastBefore } from "../../store/cell/ledger-balances.ts";
import { holdLedger } from "../../store/cell/usage/attached-months.ts";
import { type LedgerSum, sumLedger } from "../../store/cell/verify-ledger.ts";
import { findWalletRow, type WalletRow } from "../../store/cell/verify-wallets.ts";
import { totalOf } from "../../store/cell/wallets.ts";
import { nullable, timeField } from "../fields.ts";
import { describeWindow, windowAnswer } from "../history-window.ts";
import { refuseDetachedLedger } from "../refuse-detached-ledger.ts";

export const Proof = Type.Object({
  checkedAt: timeField,
  isSound: Type.Boolean({
    description:
      "True if the wallet matches the sum of its ledger in every pool, and no entry is missing or out of order.",
  }),
  ...windowAnswer,
  entries: Type.Integer({
    description:
      "The number of entries since the start of the workspace's history window. The sums also include older entries.",
    examples: [1_284],
  }),
  pools: Type.Array(
    Type.Object({
      pool: Type.String({ examples: ["credits"] }),
      ledgerSum: Type.Integer({ description: "The sum of all ledger amounts in this pool.", examples: [90] }),
      grantsLeft: nullable(
        Type.Integer({
          description:
            "The credits left in the wallet's open grants, including held credits. Null if the wallet cannot be read.",
          examples: [90],
        }),
      ),
      balance: Type.Integer({
        description: "The balance after the last ledger entry in this pool, including held credits.",
        examples: [90],
      }),
    }),
    {
      description:
        "In a correct wallet, the three amounts of each pool are equal. The amounts do not include expiries and allowances " +
        "that fell due after the last request.",
    },
  ),
});

export type Proof = Static<typeof Proof>;

/** Checks a customer's whole ledger. `entries` counts only entries at or after `since`. Null if the customer does not exist. */
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
    // A pool missing from the catalog is reported too, but has no key.
    pool: key ?? `#${id}`,
    ledgerSum: sum?.sum ?? 0,
    grantsLeft: wallet === null ? null : ledgerBalanceOf(wallet, id),
    balance: sum?.balanceAfter ?? 0,
  };
}

function isSound(
  { wallet, balance, hasLaterEntries, lastGrant, lastOverrides, lastHoldChange }: WalletRow,
  sums: readonly LedgerSum[],
  pools: Proof["pools"],
): boolean {
  if (wallet === null || hasLaterEntries || lastGrant !== wallet.grantCount) return false;
  if (lastOverrides !== wallet.overridesCount || lastHoldChange !== wallet.holdChanges) return false;
  return (
    countAll(sums) === wallet.sequence &&
    balance === totalOf(wallet) &&
    sums.every(({ sum, misfits }) => misfits === 0 && Number.isSafeInteger(sum)) &&
    pools.every(({ ledgerSum, grantsLeft, balance }) => ledgerSum === grantsLeft && ledgerSum === balance)
  );
}
