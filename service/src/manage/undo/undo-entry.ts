import { OutcomeUnknown } from "../../postgres/commit.ts";
import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { single, snapshot } from "../../postgres/transaction.ts";
import { assert } from "../../primitives/assert.ts";
import { brandAs, type CustomerId, type EnvironmentId, type Instant } from "../../primitives/brand.ts";
import { parseTimestamp } from "../../primitives/timestamp.ts";
import { firstUuidOf } from "../../primitives/uuid.ts";
import { BULK_STARTED } from "../../store/cell/audit.ts";
import {
  type BulkCall,
  CLOCK_STEP_MS_MAX,
  findAuditEntry,
  findBulkEnd,
  listEntriesOfCall,
} from "../../store/cell/audit-entries.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { readClock } from "../../store/cell/clock.ts";
import { findCustomerRecord } from "../../store/cell/customer-list.ts";
import { mapCustomers, NO_CUSTOMER, type ShownCustomer } from "../../store/cell/customers.ts";
import { openWallet } from "../../store/cell/open-wallets.ts";
import type { AuditRecord } from "../../store/control/audit-scan.ts";
import { forEachAtOnce } from "../bulk/each-customer.ts";
import type { Caller } from "../bulk/turns.ts";
import { type Context, recordAudit, startBulk } from "../context.ts";
import { walletTransaction } from "../wallet-transaction.ts";
import {
  type CustomerUndo,
  type DecidedUndo,
  decideUndo,
  ERASED,
  UNDOABLE,
  type UndoableAction,
} from "./undo-customer.ts";

/** Maps each bulk action to the action of its per-customer entries. */
const BULK_ACTIONS: Readonly<Record<string, UndoableAction>> = {
  "plan.assigned_in_bulk": "plan.assigned",
  "credits.added_in_bulk": "credits.added",
  "customers.blocked_in_bulk": "customer.blocked",
  "customers.unblocked_in_bulk": "customer.unblocked",
};

/** Maximum number of customers in the response. The counts include all customers. */
const SHOWN_MAX = 200;
const PAGE_SIZE = 500;
/** Without a summary entry, a bulk change counts as running for this long after its latest entry, because it may still be retrying. */
const RUNNING_MS = 300_000;
/** Longer than any pause between entries of a bulk change. After an interruption, the search covers this long after the latest entry. */
const PAUSE_MS_MAX = 3_600_000;

type UndoneCustomer = CustomerUndo & ShownCustomer;

export type UndoReport = {
  readonly kind: "report";
  readonly action: string;
  readonly counts: Readonly<Record<CustomerUndo["outcome"], number>>;
  readonly credits: number;
  readonly held: number;
  readonly spent: number;
  readonly customers: readonly UndoneCustomer[];
  /** The ID of the audit entry for the undo of a bulk change. */
  readonly auditEntryId: string | null;
};

/** `running`: the bulk change may still change customers. */
export type UndoOutcome =
  | UndoReport
  | { readonly kind: "not_found" }
  | { readonly kind: "not_undoable" }
  | { readonly kind: "running" };

type Undoing = (entry: CustomerEntry, customerId: CustomerId, isBulk: boolean) => Promise<CustomerUndo>;

type Steps = {
  readonly undo: Undoing;
  /** Records what was undone, even if the undo failed later. Returns the ID of the audit entry. */
  readonly record: (done: Omit<UndoReport, "kind" | "customers" | "auditEntryId">) => Promise<string | null>;
};

/** Whether undoing the entry can change many customers and take a long time. */
export async function isBulkEntry(
  cell: Pool,
  environmentId: EnvironmentId,
  entryId: string,
): Promise<boolean> {
  const entry = await single(cell, (tx) => findAuditEntry(tx, environmentId, entryId));
  return entry !== null && actionOf(entry) in BULK_ACTIONS;
}

/** Undoes the change to one customer, or to all customers in a bulk change. Safe to repeat. */
export async function undoEntry(
  cell: Pool,
  context: Context,
  entryId: string,
  caller: Caller,
): Promise<UndoOutcome> {
  const bulk = await startBulk(cell, context, "change.undone");
  let mayHaveWritten = false;
  /** Decisions whose commit had an unknown outcome, by entry ID. */
  const unknown = new Map<string, DecidedUndo>();
  const undo: Undoing = async (entry, customerId, isBulk) => {
    let decided = ERASED;
    const work = async (tx: Tx): Promise<DecidedUndo> => {
      const open = await openWallet(tx, context, customerId);
      // The customer has since been erased, and the ID may belong to another customer.
      if (open === null || open.customerNumber !== entry.customerNumber) return ERASED;
      decided = await decideUndo(tx, open, entry);
      await decided.save?.(tx, isBulk ? bulk : context);
      return decided;
    };
    // An earlier undo must also be durable before it is acknowledged again.
    const isKept = ({ outcome, save }: DecidedUndo): boolean => save !== null || outcome === "already_undone";
    try {
      const undone = await walletTransaction(cell, context, customerId, work, isKept);
      if (undone.save !== null) mayHaveWritten = true;
      return undone.outcome === "already_undone" ? (unknown.get(entry.id) ?? undone) : undone;
    } catch (error) {
      if (error instanceof OutcomeUnknown && decided.save !== null) {
        mayHaveWritten = true;
        unknown.set(entry.id, decided);
      }
      throw error;
    }
  };
  return runUndo(cell, context.environmentId, entryId, caller, {
    undo,
    record: async ({ action, counts, credits, held, spent }) => {
      if (!mayHaveWritten || !(action in BULK_ACTIONS)) return null;
      const after = { entry: entryId, ...counts, credits, held, spent };
      return recordAudit(cell, bulk, { action: "change.undone", subject: action, after });
    },
  });
}

/** Makes the same decisions as an undo, but writes nothing and acquires no locks. */
export function previewUndo(
  cell: Pool,
  environmentId: EnvironmentId,
  entryId: string,
  caller: Caller,
): Promise<UndoOutcome> {
  const undo: Undoing = (entry, customerId) =>
    // Holds can open and end at any time, so the wallet and its holds are read in one snapshot.
    snapshot(cell, async (tx) => {
      const record = await findCustomerRecord(tx, { environmentId, customerId });
      if (record === null || record.customerNumber !== entry.customerNumber) return ERASED;
      const catalog = await loadCatalog(tx, environmentId);
      const open = { ...record, environmentId, catalog, clock: await readClock(tx) };
      return decideUndo(tx, open, entry);
    });
  return runUndo(cell, environmentId, entryId, caller, { undo, record: async () => null });
}

async function runUndo(
  cell: Pool,
  environmentId: EnvironmentId,
  entryId: string,
  caller: Caller,
  { undo, record }: Steps,
): Promise<UndoOutcome> {
  const entry = await single(cell, (tx) => findAuditEntry(tx, environmentId, entryId));
  if (entry === null) return { kind: "not_found" };
  const pages = await findPages(cell, environmentId, entry);
  if (pages === "not_undoable" || pages === "running") return { kind: pages };
  const counts = { ...NONE };
  const total = { credits: 0, held: 0, spent: 0 };
  const customers: UndoneCustomer[] = [];
  const action = actionOf(entry);
  const isBulk = action in BULK_ACTIONS;
  let auditEntryId: string | null = null;
  try {
    for await (const { entries, names } of pages)
      await forEachAtOnce(entries, caller, async (each) => {
        const name = names.get(each.customerNumber) ?? NO_CUSTOMER;
        const undone = name.customerId === null ? ERASED : await undo(each, name.customerId, isBulk);
        const { outcome, credits, held, spent, plan, movedTo } = undone;
        counts[outcome] += 1;
        total.credits += credits;
        total.held += held;
        total.spent += spent;
        if (customers.length < SHOWN_MAX)
          customers.push({ ...name, outcome, credits, held, spent, plan, movedTo });
      });
  } finally {
    auditEntryId = await record({ action, counts, ...total });
  }
  return { kind: "report", action, counts, ...total, customers, auditEntryId };
}

const NONE: Record<CustomerUndo["outcome"], number> = {
  undone: 0,
  already_undone: 0,
  changed_since: 0,
  all_spent: 0,
  expired: 0,
  moved: 0,
  not_restorable: 0,
  erased: 0,
};

type CustomerEntry = AuditRecord & {
  readonly action: UndoableAction;
  readonly customerNumber: NonNullable<AuditRecord["customerNumber"]>;
};

type CustomerPage = {
  readonly entries: readonly CustomerEntry[];
  readonly names: ReadonlyMap<CustomerEntry["customerNumber"], ShownCustomer>;
};

/** Finds the entries to undo: the given entry, or the per-customer entries of a bulk change. */
async function findPages(
  cell: Pool,
  environmentId: EnvironmentId,
  entry: AuditRecord,
): Promise<AsyncGenerator<CustomerPage> | "not_undoable" | "running"> {
  if (isCustomerEntry(entry)) return onePage(cell, environmentId, entry);
  const action = BULK_ACTIONS[actionOf(entry)];
  if (action === undefined) return "not_undoable";
  const range = await findRange(cell, environmentId, entry);
  if (typeof range === "string") return range;
  return bulkPages(cell, environmentId, { action, actor: entry.actor, startId: range.startId }, range);
}

/** The action to undo. In the start entry of a bulk change, `subject` contains the action. */
function actionOf({ action, subject }: AuditRecord): string {
  return action === BULK_STARTED ? subject : action;
}

type BulkRange = Pick<BulkCall, "startId"> & {
  readonly from: Instant;
  /** Null if the bulk change was interrupted. */
  readonly until: Instant | null;
};

/** Finds when a bulk change ran, from its start entry or its summary entry. Changes before 0.2 have no start entry. */
async function findRange(
  cell: Pool,
  environmentId: EnvironmentId,
  { action, id, recordedAt, after }: AuditRecord,
): Promise<BulkRange | "not_undoable" | "running"> {
  if (action === BULK_STARTED) {
    const { endedAt, isActive } = await single(cell, (tx) =>
      findBulkEnd(tx, environmentId, { startId: id, activeMs: RUNNING_MS }),
    );
    return endedAt === null && isActive ? "running" : { startId: id, from: recordedAt, until: endedAt };
  }
  const { startedAt: started, startEntry } = after ?? {};
  if (typeof started !== "string") return "not_undoable";
  const startedAt = parseTimestamp(started);
  assert(startedAt.kind === "instant", "a bulk change has the time of its start");
  const startId = typeof startEntry === "string" ? startEntry : null;
  return { startId, from: startedAt.at, until: recordedAt };
}

async function* onePage(
  cell: Pool,
  environmentId: EnvironmentId,
  entry: CustomerEntry,
): AsyncGenerator<CustomerPage> {
  yield await single(cell, (tx) => withNames(tx, environmentId, [entry]));
}

async function* bulkPages(
  cell: Pool,
  environmentId: EnvironmentId,
  call: BulkCall,
  { from, until }: BulkRange,
): AsyncGenerator<CustomerPage> {
  // Without a start ID, a wider range could include other changes with the same request ID.
  const step = call.startId === null ? 0 : CLOCK_STEP_MS_MAX;
  // IDs from the same millisecond are in random order, so the range includes the whole last millisecond.
  const idAt = (at: number): string => firstUuidOf(brandAs<Instant>(at));
  for (let [after, latest] = [idAt(from - step), from]; ; ) {
    const before = idAt(until === null ? latest + PAUSE_MS_MAX : until + step + 1);
    const range = { after, before, limit: PAGE_SIZE };
    const page = await single(cell, async (tx) => {
      const entries = await listEntriesOfCall(tx, environmentId, call, range);
      return withNames(tx, environmentId, entries.filter(isCustomerEntry));
    });
    const last = page.entries.at(-1);
    if (last === undefined) return;
    yield page;
    [after, latest] = [last.id, last.recordedAt];
  }
}

async function withNames(
  tx: Tx,
  environmentId: EnvironmentId,
  entries: readonly CustomerEntry[],
): Promise<CustomerPage> {
  const numbers = entries.map(({ customerNumber }) => customerNumber);
  return { entries, names: await mapCustomers(tx, environmentId, numbers) };
}

function isCustomerEntry(entry: AuditRecord): entry is CustomerEntry {
  return entry.customerNumber !== null && UNDOABLE.some((action) => action === entry.action);
}
