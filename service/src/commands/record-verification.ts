import pg from "pg";
import { transaction } from "../postgres/transaction.ts";
import { saveVerification, type VerificationKind } from "../store/cell/verifications.ts";
import { withPool } from "./connect.ts";

const INSUFFICIENT_PRIVILEGE = "42501";

/** Stores the result of `purser verify` for /metrics. A read-only role can verify, but cannot store the result. */
export async function recordVerification(options: {
  databaseUrl: string;
  kind: VerificationKind;
  isSound: boolean;
  print: (line: string) => void;
}): Promise<void> {
  const { databaseUrl, kind, isSound, print } = options;
  try {
    await withPool(databaseUrl, (pool) => transaction(pool, (tx) => saveVerification(tx, { kind, isSound })));
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === INSUFFICIENT_PRIVILEGE) {
      print("This role is not allowed to store the result, so /metrics does not show it.");
      return;
    }
    const result = isSound ? "the verification passed" : "the verification found a mismatch";
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${result}, but its result was not stored, so /metrics does not show it: ${reason}`, {
      cause: error,
    });
  }
}
