import { newWallet } from "../../entitlement/wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { single, transaction } from "../../postgres/transaction.ts";
import type { CustomerId, CustomerNumber } from "../../primitives/brand.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { readClock } from "../../store/cell/clock.ts";
import { findCustomers } from "../../store/cell/customers.ts";
import { addDueHolds } from "../../store/cell/due-holds.ts";
import type { ReferencedGrant } from "../../store/cell/grants.ts";
import {
  findImportedProfiles,
  findReferencedGrants,
  type ImportedProfile,
  insertImportedCustomers,
  updateImportedProfiles,
} from "../../store/cell/imports.ts";
import {
  lookUpByIndex,
  type OpenWallets,
  openWallets,
  type Patience,
  sortNames,
} from "../../store/cell/open-wallets.ts";
import { saveEdits } from "../../store/cell/wallet-changes.ts";
import { readWallets, type WalletName } from "../../store/cell/wallets.ts";
import { rerunTroubled, untilDone } from "../bulk/chunks.ts";
import type { Context } from "../context.ts";
import { type Decision, decideRow, type Known } from "./decide-row.ts";
import type { ImportRow, RowError } from "./import-row.ts";

export type ImportJob = {
  readonly cell: Pool;
  readonly context: Context;
  /** Name of the import. Credits without a reference are added once under this name. */
  readonly name: string;
  readonly isDryRun: boolean;
  readonly stopsOnError: boolean;
};

export type RowOutcome =
  | { readonly kind: "failed"; readonly row: number; readonly error: RowError }
  | {
      readonly kind: "created" | "changed" | "unchanged";
      readonly row: number;
      readonly isPlanChanged: boolean;
      readonly areCreditsAdded: boolean;
    };

/** Imports a few hundred rows. Each row is imported completely or not at all. */
export async function importChunk(job: ImportJob, rows: readonly ImportRow[]): Promise<RowOutcome[]> {
  if (job.isDryRun) return cutAtFailure(job, await single(job.cell, (tx) => tryChunk(tx, job, rows)));
  const outcomes: RowOutcome[] = [];
  await untilDone(rows, async (rest, patience) => {
    let wanted = rest;
    for (;;) {
      const written = await rerunTroubled(() => writeOnce(job, wanted, patience));
      if (written.kind === "written") {
        outcomes.push(...written.outcomes);
        return written.locked;
      }
      // Rolled back, including new customers, because failed rows must leave no trace.
      const failed = cutAtFailure(job, written.failed);
      outcomes.push(...failed);
      wanted = wanted.filter(({ row }) => canStillBeDone(job, row, failed));
    }
  });
  return outcomes;
}

/** Drops the outcomes after the first failure if the import stops on errors. Rows before it are still completed. */
function cutAtFailure(job: ImportJob, outcomes: readonly RowOutcome[]): RowOutcome[] {
  const sorted = outcomes.toSorted((a, b) => a.row - b.row);
  const first = sorted.findIndex(({ kind }) => kind === "failed");
  return job.stopsOnError && first >= 0 ? sorted.slice(0, first + 1) : sorted;
}

function canStillBeDone({ stopsOnError }: ImportJob, row: number, failed: readonly RowOutcome[]): boolean {
  return failed.every((outcome) => (stopsOnError ? row < outcome.row : row !== outcome.row));
}

type Written =
  | { readonly kind: "written"; readonly outcomes: RowOutcome[]; readonly locked: readonly ImportRow[] }
  | { readonly kind: "refused"; readonly failed: RowOutcome[] };

function writeOnce(job: ImportJob, rows: readonly ImportRow[], patience: Patience): Promise<Written> {
  return transaction<Written>(
    job.cell,
    async (tx) => {
      await lookUpByIndex(tx);
      const created = await createMissing(tx, job, rows);
      const { environmentId } = job.context;
      const ids = rows.map(({ customerId }) => customerId);
      const opened = await openWallets(tx, environmentId, ids, patience);
      const open = rows.filter(({ customerId }) => opened.wallets.has(customerId));
      const decided = await decideRows(tx, job, open, opened, created);
      const failed = decided.flatMap(({ outcome }) => (outcome.kind === "failed" ? [outcome] : []));
      if (failed.length > 0) return { kind: "refused", failed };
      await save(tx, job, decided, opened);
      const locked = rows.filter(({ customerId }) => !opened.wallets.has(customerId));
      return { kind: "written", outcomes: decided.map(({ outcome }) => outcome), locked };
    },
    ({ kind }) => kind === "written",
  );
}

async function createMissing(
  tx: Tx,
  { context: { environmentId } }: ImportJob,
  rows: readonly ImportRow[],
): Promise<ReadonlySet<CustomerId>> {
  const names = sortNames(
    environmentId,
    rows.map(({ customerId }) => customerId),
  );
  // Looks up customers first, because an insert that conflicts uses up a customer number.
  const known = new Set((await findCustomers(tx, names)).map(({ customerId }) => customerId));
  const profiles = new Map(rows.map(({ customerId, profile }) => [customerId, profile]));
  const missing = names.flatMap(({ customerId }) => {
    const profile = profiles.get(customerId);
    return profile === undefined || known.has(customerId) ? [] : [{ customerId, profile }];
  });
  return missing.length === 0 ? new Set() : insertImportedCustomers(tx, environmentId, missing);
}

/** Decides what the import would do, without locks or writes. */
async function tryChunk(tx: Tx, job: ImportJob, rows: readonly ImportRow[]): Promise<RowOutcome[]> {
  const { environmentId } = job.context;
  const names = sortNames(
    environmentId,
    rows.map(({ customerId }) => customerId),
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
  const decided = await decideRows(tx, job, rows, { catalog, clock, wallets, held: new Set() }, created);
  return decided.map(({ outcome }) => outcome);
}

type DecidedRow = {
  readonly name: WalletName | null;
  readonly decision: Decision | null;
  readonly outcome: RowOutcome;
};

/** Decides the rows in file order. Facts are read after the locks are taken. */
async function decideRows(
  tx: Tx,
  job: ImportJob,
  rows: readonly ImportRow[],
  opened: OpenWallets,
  created: ReadonlySet<CustomerId>,
): Promise<DecidedRow[]> {
  const facts = await readFacts(tx, job, rows, opened, created);
  return rows.map((row) => {
    const name = opened.wallets.get(row.customerId) ?? null;
    const customerNumber = name?.customerNumber ?? null;
    const isCreated = created.has(row.customerId);
    const reference = referenceOf(job, row, customerNumber);
    const known: Known = {
      customerNumber,
      wallet: name?.wallet ?? newWallet(opened.clock),
      profile: customerNumber === null || isCreated ? null : (facts.profiles.get(customerNumber) ?? null),
      reference,
      earlier: reference === null ? null : (facts.referenced.get(reference) ?? null),
    };
    const decision = decideRow(opened, known, row);
    if (decision.kind === "failed") return { name, decision: null, outcome: { ...decision, row: row.row } };
    return { name, decision, outcome: describeOutcome(row, decision, isCreated) };
  });
}

async function readFacts(
  tx: Tx,
  job: ImportJob,
  rows: readonly ImportRow[],
  { wallets }: OpenWallets,
  created: ReadonlySet<CustomerId>,
): Promise<{
  profiles: Map<CustomerNumber, ImportedProfile>;
  referenced: Map<string, ReferencedGrant>;
}> {
  const { environmentId } = job.context;
  const numbers: CustomerNumber[] = [];
  const references: string[] = [];
  for (const row of rows) {
    const number = wallets.get(row.customerId)?.customerNumber ?? null;
    if (number !== null && !created.has(row.customerId)) numbers.push(number);
    const reference = referenceOf(job, row, number);
    if (reference !== null) references.push(reference);
  }
  return {
    profiles: numbers.length === 0 ? new Map() : await findImportedProfiles(tx, environmentId, numbers),
    referenced:
      references.length === 0 ? new Map() : await findReferencedGrants(tx, environmentId, references),
  };
}

/**
 * The reference of a row's credits. It contains our customer number, not the caller's ID, because a reference is kept forever and
 * must not contain an erased ID. Null for a row without credits, and in a dry run for a new customer.
 */
function referenceOf(
  { name }: ImportJob,
  { credits }: ImportRow,
  number: CustomerNumber | null,
): string | null {
  if (credits === null) return null;
  return credits.reference ?? (number === null ? null : `import:${name}:${number}`);
}

function describeOutcome({ row }: ImportRow, decision: Decision, isCreated: boolean): RowOutcome {
  const { profile, isPlanChanged, areCreditsAdded } = decision;
  const isChanged = profile !== null || isPlanChanged || areCreditsAdded;
  return {
    kind: isCreated ? "created" : isChanged ? "changed" : "unchanged",
    row,
    isPlanChanged,
    areCreditsAdded,
  };
}

async function save(
  tx: Tx,
  { context }: ImportJob,
  decided: readonly DecidedRow[],
  { clock }: OpenWallets,
): Promise<void> {
  const rows = decided.flatMap(({ name, decision }) =>
    name === null || decision === null ? [] : [{ ...name, ...decision }],
  );
  const profiles = rows.flatMap(({ customerNumber, profile }) =>
    profile === null ? [] : [{ customerNumber, profile }],
  );
  if (profiles.length > 0) await updateImportedProfiles(tx, context.environmentId, profiles);
  const edits = rows.flatMap(({ environmentId, customerNumber, edits: ofRow }) =>
    ofRow.map((edit) => ({ environmentId, customerNumber, ...edit })),
  );
  await saveEdits(tx, { ...context, clock }, edits);
}
