import type { Session } from "../postgres/session.ts";
import type { Instant } from "../primitives/brand.ts";
import { formatTimestamp } from "../primitives/timestamp.ts";
import { findWholeSince } from "../store/cell/usage/attached-months.ts";
import type { WrongSum } from "../store/cell/usage/compare.ts";
import { clearDoubt, readUsageProgress, refuseOtherServer } from "../store/cell/usage/progress.ts";
import { openVerification } from "./connect.ts";
import { Unhurried } from "./verify/unhurried.ts";
import { DETACHED, hasRows, repairDay } from "./verify/usage/repair-day.ts";
import { utcDay } from "./verify/usage/utc-day.ts";
import { verifyUsage } from "./verify/usage/verify-usage.ts";

/**
 * Long, because one statement compares a bucket with the buckets of all its customers. The statement cannot be split, because it
 * must read both in one snapshot.
 */
const STATEMENT_TIMEOUT_MS = 120_000;

/** Compares the roll-ups with the rows while the service runs. Returns whether all of them match. */
export async function verifyUsageCommand(options: {
  databaseUrl: string;
  /** The day whose roll-ups are rebuilt before the verification. */
  repair: Instant | null;
  print: (line: string) => void;
}): Promise<boolean> {
  const { databaseUrl, repair, print } = options;
  if (repair !== null) {
    await withSession({ url: databaseUrl }, (session) => repairDay(session, repair));
    print(`Rebuilt the roll-ups of ${formatTimestamp(repair).slice(0, 10)} (UTC) from the rows.`);
  }
  return withSession({ url: databaseUrl, statementTimeoutMs: STATEMENT_TIMEOUT_MS }, async (session) => {
    const tx = new Unhurried(session);
    const { doubtfulSince } = await readUsageProgress(tx);
    const since = await findWholeSince(tx);
    if (since !== null)
      print(`Roll-ups before ${formatTimestamp(since)} are not compared with rows: ${DETACHED}.`);
    const { wrong, rows } = await verifyUsage(tx, since);
    if (wrong !== null && (await findWholeSince(tx)) !== since)
      throw new Error("a month was detached or attached during verification: run it again");
    print(
      `Compared ${rows} events, charges, reversals and denials with the roll-ups; the longest statement took ${Math.ceil(tx.statementMsMax)} ms.`,
    );
    const { completeTo } = await readUsageProgress(tx);
    print(
      `Rows recorded after ${formatTimestamp(completeTo)} may not have been added yet and were not compared.`,
    );
    print(wrong === null ? "All usage roll-ups match their rows." : describe(wrong, since));
    if (wrong === null && doubtfulSince !== null) {
      if (hasRows(doubtfulSince, since)) {
        await clearDoubt(tx, doubtfulSince);
        print("Nothing is missing after the switch to this server: usage is complete again.");
      } else
        print(
          `Usage since ${formatTimestamp(doubtfulSince)} is still in doubt after the switch to this server: attach the months from ${formatTimestamp(doubtfulSince).slice(0, 7)} on, and verify again.`,
        );
    }
    return wrong === null;
  });
}

function describe(wrong: WrongSum, since: Instant | null): string {
  const { environmentId, customerNumber, at, meter, missing } = wrong;
  const who = customerNumber === null ? "" : `, customer number ${customerNumber}`;
  const what = meter === null ? "an unknown meter" : describeMeter(meter);
  const { count, quantity, credits } = missing;
  const day = utcDay(at);
  const hint = hasRows(day, since)
    ? ` To rebuild the day's roll-ups from the rows: purser verify --usage --repair ${formatTimestamp(day).slice(0, 10)}`
    : "";
  return (
    `MISMATCH: environment ${environmentId}${who}, ${what} at ${formatTimestamp(at)}: ` +
    `count ${count}, quantity ${quantity}, credits ${credits} (rows minus roll-up).${hint}`
  );
}

function describeMeter({ kind, key }: NonNullable<WrongSum["meter"]>): string {
  const [feature, other] = key.split(":");
  if (kind === "charges") return `charges for feature number ${feature} from pool number ${other}`;
  if (kind === "overage") return `overage for feature number ${feature} of pool number ${other}`;
  if (kind === "denials") return `denials of feature number ${feature} for reason number ${other}`;
  return `events ${JSON.stringify(key)}`;
}

async function withSession<T>(
  options: { url: string; statementTimeoutMs?: number },
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await openVerification(options);
  try {
    await refuseOtherServer(session);
    return await work(session);
  } finally {
    session.destroy();
  }
}
