import { Session } from "../postgres/session.ts";
import { findOrphan } from "./verify/find-orphans.ts";
import { type Checked, describeChecked, describeMismatch } from "./verify/report.ts";
import { Unhurried } from "./verify/unhurried.ts";
import { verifyWallets } from "./verify/verify-wallets.ts";

/**
 * Folds every ledger and holds wallets, grants and limits against it, while the service runs; stops at the first that
 * differs. Returns whether none did.
 */
export async function verifyCommand(options: {
  databaseUrl: string;
  print: (line: string) => void;
}): Promise<boolean> {
  const { databaseUrl, print } = options;
  const session = await Session.open({ url: databaseUrl, name: "purser verify", connectTimeoutMs: 5_000 });
  try {
    const startMs = performance.now();
    const tx = new Unhurried(session);
    const checked: Checked = { customers: 0, wallets: 0, entries: 0, grants: 0, reversals: 0 };
    const mismatch = (await verifyWallets(tx, checked)) ?? (await findOrphan(tx, checked));
    const seconds = ((performance.now() - startMs) / 1_000).toFixed(1);
    print(`Checked ${describeChecked(checked)}.`);
    print(`It took ${seconds} s, the longest statement ${Math.ceil(tx.longestMs)} ms.`);
    print(mismatch === null ? "Every wallet is the fold of its ledger." : describeMismatch(mismatch));
    return mismatch === null;
  } finally {
    session.destroy();
  }
}
