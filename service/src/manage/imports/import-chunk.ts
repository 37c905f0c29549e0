import type { Catalog } from "../../entitlement/catalog.ts";
import { type GrantKind, newWallet } from "../../entitlement/wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { single, transaction } from "../../postgres/transaction.ts";
import type { CustomerId, CustomerNumber } from "../../primitives/brand.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { readClock } from "../../store/cell/clock.ts";
import { findCustomers } from "../../store/cell/customers.ts";
import { addDueHolds } from "../../store/cell/due-holds.ts";
import { findGrantsByReferences } from "../../store/cell/grants.ts";
import {
  findImportedProfiles,
  type ImportedProfile,
  insertImportedCustomers,
  updateImportedProfiles,
} from "../../store/cell/imports.ts";
import {
  type LockMode,
  lookUpByIndex,
  type OpenWallets,
  openWallets,
  sortNames,
} from "../../store/cell/open-wallets.ts";
import { saveEdits } from "../../store/cell/wallet-changes.ts";
import { readWallets, type WalletName } from "../../store/cell/wallets.ts";
import { untilDone, withRetries } from "../bulk/chunks.ts";
import type { Context } from "../context.ts";
import { type Decision, decideCustomer, type Known } from "./decide-customer.ts";
import type { RowError } from "./import-row.ts";
import type { ImportedCustomer } from "./imported-customer.ts";
import { type Referenced, referencesOf } from "./references.ts";

export type ImportJob = {
  readonly cell: Pool;
  readonly context: Context;
  /** Name of the import. Credits without a reference are added only once per import name. */
  readonly name: string;
  readonly isDryRun: boolean;
  readonly stopsOnError: boolean;
};

/** The outcome for one customer. `row` is the number of the customer's first row, and `rows` is how many rows the customer has. */
export type CustomerOutcome = { readonly row: number; readonly rows: number } & (
  | { readonly kind: "failed"; readonly error: RowError }
  | {
      readonly kind: "created" | "changed" | "unchanged";
      readonly isPlanChanged: boolean;
      /** Plan key in the file. */
      readonly plan: string | null;
      readonly rowsAdded: number;
      /** The added credits, by pool key. */
      readonly given: readonly {
        readonly pool: string;
        readonly kind: GrantKind;
        readonly credits: number;
      }[];
    }
);

/** Counts the outcomes of an import. */
export type OutcomeCounter = {
  count(outcomes: readonly CustomerOutcome[]): void;
  /** Called if it is unknown whether these outcomes were committed. The customers are counted after a retry. */
  noteUnknown(outcomes: readonly CustomerOutcome[]): void;
};

/** Imports a few hundred rows. Imports each customer completely or not at all, and counts the customer after the commit. */
export async function importChunk(
  job: ImportJob,
  customers: readonly ImportedCustomer[],
  counter: OutcomeCounter,
): Promise<void> {
  if (job.isDryRun) {
    const tried = await single(job.cell, (tx) => tryChunk(tx, job, customers));
    return counter.count(cutAtFailure(job, tried));
  }
  await untilDone(customers, async (rest, lockMode) => {
    let wanted = rest;
    for (;;) {
      let decided: readonly CustomerOutcome[] = [];
      const written = await withRetries(
        () =>
          writeOnce(job, wanted, lockMode, (outcomes) => {
            decided = outcomes;
          }),
        () => counter.noteUnknown(decided),
      );
      if (written.kind === "written") {
        counter.count(written.outcomes);
        return written.locked;
      }
      // The transaction was rolled back, including new customers, because failed rows must leave no trace.
      const failed = cutAtFailure(job, written.failed);
      counter.count(failed);
      wanted = wanted.filter(({ row }) => canStillBeDone(job, row, failed));
    }
  });
}

/** If the import stops on errors, drops all outcomes after the first failure. Rows before that failure are still imported. */
function cutAtFailure(job: ImportJob, outcomes: readonly CustomerOutcome[]): CustomerOutcome[] {
  const sorted = outcomes.toSorted((a, b) => a.row - b.row);
  const first = sorted.findIndex(({ kind }) => kind === "failed");
  return job.stopsOnError && first >= 0 ? sorted.slice(0, first + 1) : sorted;
}

function canStillBeDone(
  { stopsOnError }: ImportJob,
  row: number,
  failed: readonly CustomerOutcome[],
): boolean {
  return failed.every((outcome) => (stopsOnError ? row < outcome.row : row !== outcome.row));
}

type Written =
  | {
      readonly kind: "written";
      readonly outcomes: CustomerOutcome[];
      readonly locked: readonly ImportedCustomer[];
    }
  | { readonly kind: "refused"; readonly failed: CustomerOutcome[] };

function writeOnce(
  job: ImportJob,
  customers: readonly ImportedCustomer[],
  lockMode: LockMode,
  onDecided: (outcomes: readonly CustomerOutcome[]) => void,
): Promise<Written> {
  return transaction<Written>(
    job.cell,
    async (tx) => {
      await lookUpByIndex(tx);
      const created = await createMissing(tx, job, customers);
      const { environmentId } = job.context;
      const ids = customers.map(({ customerId }) => customerId);
      const opened = await openWallets(tx, environmentId, ids, lockMode);
      const open = customers.filter(({ customerId }) => opened.wallets.has(customerId));
      const decided = await decideCustomers(tx, job, open, opened, created);
      const failed = decided.flatMap(({ outcome }) => (outcome.kind === "failed" ? [outcome] : []));
      if (failed.length > 0) return { kind: "refused", failed };
      const outcomes = decided.map(({ outcome }) => outcome);
      onDecided(outcomes);
      await save(tx, job, decided, opened);
      const locked = customers.filter(({ customerId }) => !opened.wallets.has(customerId));
      return { kind: "written", outcomes, locked };
    },
    ({ kind }) => kind === "written",
  );
}

async function createMissing(
  tx: Tx,
  { context: { environmentId } }: ImportJob,
  customers: readonly ImportedCustomer[],
): Promise<ReadonlySet<CustomerId>> {
  const names = sortNames(
    environmentId,
    customers.map(({ customerId }) => customerId),
  );
  // Looks up customers before inserting, because an insert that conflicts uses up a customer number.
  const known = new Set((await findCustomers(tx, names)).map(({ customerId }) => customerId));
  const profiles = new Map(customers.map(({ customerId, profile }) => [customerId, profile]));
  const missing = names.flatMap(({ customerId }) => {
    const profile = profiles.get(customerId);
    return profile === undefined || known.has(customerId) ? [] : [{ customerId, profile }];
  });
  return missing.length === 0 ? new Set() : insertImportedCustomers(tx, environmentId, missing);
}

/** Decides what the import would do, without locks or writes. */
async function tryChunk(
  tx: Tx,
  job: ImportJob,
  customers: readonly ImportedCustomer[],
): Promise<CustomerOutcome[]> {
  const { environmentId } = job.context;
  const names = sortNames(
    environmentId,
    customers.map(({ customerId }) => customerId),
  );
  const read = await readWallets(tx, names);
  const catalog = await loadCatalog(tx, environmentId);
  const clock = await readClock(tx);
  const found = await addDueHolds(tx, read, { clock, catalogs: [catalog] });
  const wallets = new Map(
    found.map(({ customerId, customerNumber, readWallet }) => [
      customerId,
      { environmentId, customerNumber, wallet: readWallet?.() ?? newWallet(clock) },
    ]),
  );
  const created = new Set(names.flatMap(({ customerId }) => (wallets.has(customerId) ? [] : [customerId])));
  const decided = await decideCustomers(
    tx,
    job,
    customers,
    { catalog, clock, wallets, lockedElsewhere: new Set() },
    created,
  );
  return decided.map(({ outcome }) => outcome);
}

type DecidedCustomer = {
  readonly name: WalletName | null;
  readonly decision: Decision | null;
  readonly outcome: CustomerOutcome;
};

/** Decides the changes to each customer, in file order. Reads profiles and references after the locks are acquired. */
async function decideCustomers(
  tx: Tx,
  job: ImportJob,
  customers: readonly ImportedCustomer[],
  opened: OpenWallets,
  created: ReadonlySet<CustomerId>,
): Promise<DecidedCustomer[]> {
  const facts = await readFacts(tx, job, customers, opened, created);
  return customers.map((customer) => {
    const name = opened.wallets.get(customer.customerId) ?? null;
    const customerNumber = name?.customerNumber ?? null;
    const isCreated = created.has(customer.customerId);
    const known: Known = {
      wallet: name?.wallet ?? newWallet(opened.clock),
      profile: customerNumber === null || isCreated ? null : (facts.profiles.get(customerNumber) ?? null),
      referenced: facts.referenced,
      importing: { name: job.name, customerNumber },
    };
    const decision = decideCustomer(opened, known, customer);
    if (decision.kind === "failed")
      return { name, decision: null, outcome: { ...decision, row: customer.row, rows: customer.rows } };
    return {
      name,
      decision,
      outcome: describeOutcome(customer, decision, { isCreated, catalog: opened.catalog }),
    };
  });
}

async function readFacts(
  tx: Tx,
  job: ImportJob,
  customers: readonly ImportedCustomer[],
  { wallets, catalog }: OpenWallets,
  created: ReadonlySet<CustomerId>,
): Promise<{ profiles: Map<CustomerNumber, ImportedProfile>; referenced: Referenced }> {
  const { environmentId } = job.context;
  const pools = new Map(catalog.pools.values().map(({ key, id }) => [key, id]));
  const numbers: CustomerNumber[] = [];
  const references = new Set<string>();
  for (const customer of customers) {
    const customerNumber = wallets.get(customer.customerId)?.customerNumber ?? null;
    if (customerNumber !== null && !created.has(customer.customerId)) numbers.push(customerNumber);
    const importing = { name: job.name, customerNumber };
    for (const reference of referencesOf(importing, customer, pools)) references.add(reference);
  }
  return {
    profiles: numbers.length === 0 ? new Map() : await findImportedProfiles(tx, environmentId, numbers),
    referenced:
      references.size === 0 ? new Map() : await findGrantsByReferences(tx, environmentId, [...references]),
  };
}

function describeOutcome(
  { row, rows, plan }: ImportedCustomer,
  { profile, isPlanChanged, rowsAdded, given }: Decision,
  { isCreated, catalog }: { readonly isCreated: boolean; readonly catalog: Catalog },
): CustomerOutcome {
  const isChanged = profile !== null || isPlanChanged || rowsAdded > 0;
  const kind = isCreated ? "created" : isChanged ? "changed" : "unchanged";
  const named = given.map((one) => ({ ...one, pool: catalog.pools.get(one.pool)?.key ?? "" }));
  return { kind, row, rows, isPlanChanged, plan: plan?.key ?? null, rowsAdded, given: named };
}

async function save(
  tx: Tx,
  { context }: ImportJob,
  decided: readonly DecidedCustomer[],
  { clock }: OpenWallets,
): Promise<void> {
  const changed = decided.flatMap(({ name, decision }) =>
    name === null || decision === null ? [] : [{ ...name, ...decision }],
  );
  const profiles = changed.flatMap(({ customerNumber, profile }) =>
    profile === null ? [] : [{ customerNumber, profile }],
  );
  if (profiles.length > 0) await updateImportedProfiles(tx, context.environmentId, profiles);
  const edits = changed.flatMap(({ environmentId, customerNumber, edits: ofCustomer }) =>
    ofCustomer.map((edit) => ({ environmentId, customerNumber, ...edit })),
  );
  await saveEdits(tx, { ...context, clock }, edits);
}
