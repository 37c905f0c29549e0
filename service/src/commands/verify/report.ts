import type { CustomerId } from "../../primitives/brand.ts";
import type { WalletName } from "../../store/cell/wallets.ts";

/** The first difference found. */
export type Mismatch = WalletName & {
  /** Null if the customer does not exist. */
  readonly customerId: CustomerId | null;
  readonly text: string;
};

/** Rows verified so far. */
export type Checked = {
  customers: number;
  wallets: number;
  entries: number;
  grants: number;
  reversals: number;
};

export type Report = {
  readonly checked: Checked;
  readonly mismatch: Mismatch | null;
  readonly statementMsMax: number;
};

export function describeMismatch({ customerId, environmentId, customerNumber, text }: Mismatch): string {
  const where = `number ${customerNumber} in environment ${environmentId}`;
  const who = customerId === null ? `customer ${where}` : `customer ${JSON.stringify(customerId)}, ${where}`;
  return `MISMATCH: ${who}: ${text}`;
}

export function describeChecked({ customers, wallets, entries, grants, reversals }: Checked): string {
  const count = (number: number, one: string, many = `${one}s`): string =>
    `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
  return (
    `${count(wallets, "wallet")} against ${count(entries, "ledger entry", "ledger entries")}, ${count(grants, "grant")} and ` +
    `${count(reversals, "reversal")}; ${count(customers, "customer")} looked up`
  );
}
