import type { Item } from "../../api/answer.ts";

export type Entry = Item<"listAudit">;

/** Whether the action belongs to a whole bulk change or import, not to one customer. */
export function isBulkAction(action: string): boolean {
  return /_in_bulk$|^customers\.imported$|^change\.undone$|^bulk_change\.started$/.test(action);
}

const UNDOABLE: ReadonlySet<string> = new Set([
  "credits.added",
  "credits.added_in_bulk",
  "plan.assigned",
  "plan.assigned_in_bulk",
  "customer.blocked",
  "customer.unblocked",
  "customers.blocked_in_bulk",
  "customers.unblocked_in_bulk",
]);

/** An interrupted bulk change is undone from its start entry, whose subject is the action. */
export function isUndoable({ action, subject }: Pick<Entry, "action" | "subject">): boolean {
  return UNDOABLE.has(action === "bulk_change.started" ? subject : action);
}

/** The element ID of an entry's sentence. */
export function sentenceId({ id }: Entry): string {
  return `sentence-${id}`;
}

type Fields = Entry["after"];

/** Reads a field of `before` or `after`, whose shape depends on the action. */
export function textIn(fields: Fields, name: string): string | null {
  const value = fields?.[name];
  return typeof value === "string" ? value : null;
}

export function countIn(fields: Fields, name: string): number | null {
  const value = fields?.[name];
  return typeof value === "number" ? value : null;
}

export function listIn(fields: Fields, name: string): string[] {
  const value = fields?.[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** One changed field. `undefined` means that the field is missing on that side. */
export type Change = {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly kind: "changed" | "new" | "removed" | "same";
};

const ORDER = ["changed", "new", "removed", "same"] as const;

/** All fields of `before` and `after`, with changed fields first. */
export function changesOf({ before, after }: Pick<Entry, "before" | "after">): Change[] {
  const [was, is] = [flatten(before ?? {}), flatten(after ?? {})];
  const fields = [...new Set([...was.keys(), ...is.keys()])];
  return fields
    .map((field): Change => {
      const [then, now] = [was.get(field), is.get(field)];
      return { field, before: then, after: now, kind: compare(then, now) };
    })
    .sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
}

function compare(before: unknown, after: unknown): Change["kind"] {
  if (before === undefined) return "new";
  if (after === undefined) return "removed";
  return JSON.stringify(before) === JSON.stringify(after) ? "same" : "changed";
}

const WORDS: Readonly<Record<string, string>> = {
  endsAt: "ends at",
  nextPlan: "next plan",
  startsAt: "starts at",
  expiresAt: "expires at",
  revokedAt: "revoked at",
  isBlocked: "blocked",
  isDefault: "default plan",
  ledgerEntry: "ledger entry",
  customerIds: "selected customers",
  startedAt: "started at",
  lastFour: "secret ends in",
  projectId: "project",
  creditsAdded: "credits added",
  movedFrom: "moved from",
  movedTo: "moved to",
  movedFromName: "moved from (name)",
  movedToName: "moved to (name)",
  inBulk: "part of a bulk change",
  startEntry: "start entry",
  userAgent: "browser",
  moreAddresses: "more addresses",
  metadataBytesMax: "max metadata bytes",
  metadataKeysMax: "max metadata keys",
  metadataDepthMax: "max metadata depth",
  historyDaysMax: "max history days",
  requestsPerSecondMax: "max requests per second",
};

/** Flattens nested fields to paths: `balances › credits`. Items of a list are identified by name, so that their order does not matter. */
function flatten(value: Record<string, unknown>, way: readonly string[] = []): Map<string, unknown> {
  const flat = new Map<string, unknown>();
  for (const [name, field] of Object.entries(value)) {
    const here = [...way, WORDS[name] ?? name];
    const named = isRecord(field) ? field : byName(field);
    if (named === null) flat.set(here.join(" › "), field);
    else for (const [path, leaf] of flatten(named, here)) flat.set(path, leaf);
  }
  return flat;
}

const NAMES = ["feature", "pool", "key"] as const;

function byName(value: unknown): Record<string, unknown> | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  const named = value.map((item): [string, unknown] | null => {
    if (!isRecord(item)) return null;
    const name = NAMES.find((field) => typeof item[field] === "string");
    if (name === undefined) return null;
    const { [name]: text, ...rest } = item;
    return [String(text), rest];
  });
  const sound = named.filter((entry) => entry !== null);
  return sound.length === value.length ? Object.fromEntries(sound) : null;
}
