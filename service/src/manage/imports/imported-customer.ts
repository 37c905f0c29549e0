import type { CustomerId, Instant } from "../../primitives/brand.ts";
import type { ImportedProfile } from "../../store/cell/imports.ts";
import type { Column, ImportedAllowance, ImportedCredits, ImportRow, RowError } from "./import-row.ts";

/** A customer in an import file. All rows of the customer are imported together or not at all. */
export type ImportedCustomer = {
  /** Number of the customer's first row. */
  readonly row: number;
  readonly rows: number;
  readonly customerId: CustomerId;
  readonly profile: ImportedProfile;
  readonly plan: ImportedPlan | null;
  readonly allowances: readonly ImportedAllowance[];
  readonly credits: readonly ImportedCredits[];
};

export type ImportedPlan = {
  readonly key: string;
  /** If null, periods are counted from the time of the import. */
  readonly anchor: Instant | null;
  /** If undefined, the plan keeps its current end date. */
  readonly endsAt: Instant | undefined;
};

/** Joins a customer's rows. Each row can have one balance and one allowance. Other values must not differ between rows. */
export function joinRows(rows: readonly [ImportRow, ...ImportRow[]]): ImportedCustomer | RowError[] {
  const errors: RowError[] = [];
  const [first] = rows;
  const shared = new Shared(rows, errors);
  const profile = {
    name: shared.value("name", ({ profile: { name } }) => name),
    email: shared.value("email", ({ profile: { email } }) => email),
    billingReference: shared.value("billingReference", (row) => row.profile.billingReference),
  };
  const key = shared.value("plan", ({ plan }) => plan);
  const anchor = shared.value("anchor", (row) => row.anchor);
  const endsAt = shared.value("planEndsAt", ({ planEndsAt }) => planEndsAt) ?? undefined;
  const allowances = uniqueAllowances(rows, errors);
  const credits = rows.flatMap((row) => row.credits ?? []);
  errors.push(...findTwins(credits));
  if (key === null) {
    const needy = rows.find((row) => row.anchor ?? row.planEndsAt ?? row.allowance);
    const message = "is required with anchor, planEndsAt or allowanceRemaining";
    if (needy !== undefined) errors.push({ row: needy.row, column: "plan", code: "required", message });
  }
  if (errors.length > 0) return errors;
  const plan = key === null ? null : { key, anchor, endsAt };
  const { row, customerId } = first;
  return { row, rows: rows.length, customerId, profile, plan, allowances, credits };
}

/** Reads values that apply to the whole customer. A row can repeat these values or leave them empty. */
class Shared {
  readonly #rows: readonly ImportRow[];
  readonly #errors: RowError[];

  constructor(rows: readonly ImportRow[], errors: RowError[]) {
    this.#rows = rows;
    this.#errors = errors;
  }

  value<Value extends string | number>(column: Column, of: (row: ImportRow) => Value | null): Value | null {
    const [source, ...others] = this.#rows.filter((row) => of(row) !== null);
    if (source === undefined) return null;
    const other = others.find((row) => of(row) !== of(source));
    if (other !== undefined) this.#errors.push(differs(other.row, column, source.row));
    return of(source);
  }
}

function uniqueAllowances(rows: readonly ImportRow[], errors: RowError[]): ImportedAllowance[] {
  const byPool = new Map<string, ImportedAllowance>();
  for (const { allowance } of rows) {
    if (allowance === null) continue;
    const earlier = byPool.get(allowance.pool);
    if (earlier === undefined) byPool.set(allowance.pool, allowance);
    else if (earlier.remaining !== allowance.remaining)
      errors.push(differs(allowance.row, "allowanceRemaining", earlier.row));
  }
  return [...byPool.values()];
}

/** Finds duplicate credits. Credits without a reference are identified by pool, kind and expiry. */
function findTwins(credits: readonly ImportedCredits[]): RowError[] {
  const seen = new Map<string, number>();
  return credits.flatMap(({ row, pool, kind, expiresAt, reference }) => {
    if (reference !== null) return [];
    const identity = JSON.stringify([pool, kind, expiresAt]);
    const first = seen.get(identity);
    if (first === undefined) seen.set(identity, row);
    const message = `have the same pool, kind and expiry as those in row ${first}: add them up, or set references`;
    return first === undefined ? [] : [{ row, column: "credits" as const, code: "duplicate", message }];
  });
}

function differs(row: number, column: Column, first: number): RowError {
  return { row, column, code: "conflict", message: `differs from row ${first} of the same customer` };
}
