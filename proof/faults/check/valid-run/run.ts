import { POOL } from "../../../harness/project.ts";
import { FEATURES, PLANS } from "../../catalog.ts";
import type { Call } from "../../history/call.ts";
import type { ManageCall } from "../../history/manage-call.ts";
import { keyHashOf } from "../keys/key-hash.ts";
import type { Stored } from "../stored.ts";

/** A history and its rows, for tests to change. */
export type Run = { calls: Call[]; manageCalls: ManageCall[] } & {
  -readonly [Table in keyof Stored]: Stored[Table][number][];
};

const named = (keys: readonly string[]) => keys.map((key, index) => ({ id: index + 1, key }));
const plans = named(Object.keys(PLANS));

export function emptyRun(): Run {
  return {
    calls: [],
    manageCalls: [],
    events: [],
    keys: [],
    customers: [],
    wallets: [],
    grants: [],
    ledger: [],
    denials: [],
    assignments: [],
    pools: [{ id: 1, key: POOL }],
    features: named(Object.keys(FEATURES)),
    plans,
    // A version's id is ten times its plan's.
    planVersions: plans.map(({ id }) => ({ id: id * 10, plan: id })),
  };
}

export function addKey(run: Run, key: string, endpoint: "consume" | "events", subjectId: string): void {
  run.keys.push({ key, keyHash: keyHashOf(key), endpoint: endpoint === "consume" ? 2 : 3, subjectId });
}
