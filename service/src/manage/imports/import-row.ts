import type { GrantKind } from "../../entitlement/wallet.ts";
import { brandAs, type CustomerId, type Instant } from "../../primitives/brand.ts";
import { parseTimestamp } from "../../primitives/timestamp.ts";
import type { ImportedProfile } from "../../store/cell/imports.ts";
import { FIRST_POOL } from "../catalog/content.ts";
import { isEmail } from "../people/email.ts";

/** Columns of an import file. */
export const COLUMNS = [
  "customerId",
  "name",
  "email",
  "billingReference",
  "plan",
  "anchor",
  "planEndsAt",
  "pool",
  "allowanceRemaining",
  "credits",
  "kind",
  "expiresAt",
  "reference",
] as const;

export type Column = (typeof COLUMNS)[number];

/** An error in a row. Rows are numbered as in a spreadsheet, starting with the header as row 1. */
export type RowError = {
  readonly row: number;
  /** Null if the error applies to the whole row. */
  readonly column: Column | null;
  readonly code: string;
  readonly message: string;
};

/** A parsed row. A field is null if the row has no value for it. */
export type ImportRow = {
  readonly row: number;
  readonly customerId: CustomerId;
  readonly profile: ImportedProfile;
  /** Plan key. */
  readonly plan: string | null;
  readonly anchor: Instant | null;
  readonly planEndsAt: Instant | null;
  readonly allowance: ImportedAllowance | null;
  readonly credits: ImportedCredits | null;
};

/** The customer's remaining plan allowance in the current period. */
export type ImportedAllowance = { readonly row: number; readonly pool: string; readonly remaining: number };

export type ImportedCredits = {
  readonly row: number;
  readonly credits: number;
  readonly pool: string;
  readonly kind: Exclude<GrantKind, "allowance">;
  readonly expiresAt: Instant | null;
  /** Null if the file has no reference. Purser then derives one from the import's name, the customer, pool, kind and expiry. */
  readonly reference: string | null;
};

const LENGTH_MAX = { customerId: 255, name: 255, email: 254, billingReference: 255, reference: 255 } as const;
const KEY_LENGTH_MAX = 120;
const CREDITS_MAX = 1_000_000_000_000;
const KINDS = ["purchase", "manual", "promotion"] as const satisfies readonly ImportedCredits["kind"][];

/** Parses a row strictly. An invalid cell is reported as an error, and its value is never guessed. */
export function parseRow(
  row: number,
  header: readonly Column[],
  cells: readonly string[],
): ImportRow | readonly RowError[] {
  if (cells.length !== header.length) {
    const message = `has ${cells.length} columns, but the header has ${header.length}`;
    return [{ row, column: null, code: "wrong_form", message }];
  }
  const reader = new RowReader(row, header, cells);
  const customerId = reader.text("customerId", LENGTH_MAX.customerId);
  if (customerId === null && reader.errors.length === 0)
    reader.fail("customerId", "required", "must not be empty");
  const profile = {
    name: reader.text("name", LENGTH_MAX.name),
    email: reader.text("email", LENGTH_MAX.email),
    billingReference: reader.text("billingReference", LENGTH_MAX.billingReference),
  };
  if (profile.email !== null && !isEmail(profile.email))
    reader.fail("email", "wrong_form", "is not an email address");
  const plan = reader.text("plan", KEY_LENGTH_MAX);
  const anchor = reader.time("anchor");
  const planEndsAt = reader.time("planEndsAt");
  const pool = reader.text("pool", KEY_LENGTH_MAX) ?? FIRST_POOL.key;
  const remaining = reader.wholeNumber("allowanceRemaining", CREDITS_MAX);
  const credits = readCredits(reader, row, pool);
  if (customerId === null || reader.errors.length > 0) return reader.errors;
  const allowance = remaining === null ? null : { row, pool, remaining };
  const id = brandAs<CustomerId>(customerId);
  return { row, customerId: id, profile, plan, anchor, planEndsAt, allowance, credits };
}

function readCredits(reader: RowReader, row: number, pool: string): ImportedCredits | null {
  const credits = reader.wholeNumber("credits", CREDITS_MAX);
  const kind = reader.oneOf("kind", KINDS) ?? "manual";
  const expiresAt = reader.time("expiresAt");
  const reference = reader.text("reference", LENGTH_MAX.reference);
  // `erased:` is the prefix of erased references.
  if (reference?.startsWith("erased:") === true)
    reader.fail("reference", "wrong_form", "must not begin with erased:");
  if (credits === null) {
    // A pool or kind without credits is ignored, because many files set these columns in every row.
    if (expiresAt !== null || reference !== null)
      reader.fail("credits", "required", "is required with expiresAt or reference");
    return null;
  }
  return credits === 0 ? null : { row, credits, pool, kind, expiresAt, reference };
}

/** Reads the cells of one row by column and collects errors. An empty cell is treated as absent. */
class RowReader {
  readonly errors: RowError[] = [];
  readonly #row: number;
  readonly #header: readonly Column[];
  readonly #cells: readonly string[];

  constructor(row: number, header: readonly Column[], cells: readonly string[]) {
    this.#row = row;
    this.#header = header;
    this.#cells = cells;
  }

  text(column: Column, lengthMax: number): string | null {
    const text = this.#cells[this.#header.indexOf(column)] ?? "";
    if (text === "") return null;
    if (text.includes("\0")) this.fail(column, "wrong_form", "contains a NUL character");
    // Counts characters, not UTF-16 code units.
    else if (text.length > lengthMax && [...text].length > lengthMax)
      this.fail(column, "too_long", `must have at most ${lengthMax} characters`);
    else return text;
    return null;
  }

  time(column: Column): Instant | null {
    const text = this.text(column, KEY_LENGTH_MAX);
    if (text === null) return null;
    const parsed = parseTimestamp(text);
    if (parsed.kind === "instant") return parsed.at;
    const message =
      parsed.kind === "no_offset"
        ? "has no UTC offset (append Z if it is in UTC)"
        : "is not an RFC 3339 time";
    this.fail(column, "wrong_form", `${message}: ${quote(text)}`);
    return null;
  }

  oneOf<Value extends string>(column: Column, values: readonly Value[]): Value | null {
    const text = this.text(column, KEY_LENGTH_MAX);
    const value = values.find((known) => known === text) ?? null;
    if (text !== null && value === null) {
      const allowed = `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`;
      this.fail(column, "wrong_form", `must be ${allowed}, not ${quote(text)}`);
    }
    return value;
  }

  wholeNumber(column: Column, max: number): number | null {
    const text = this.text(column, KEY_LENGTH_MAX);
    if (text === null) return null;
    if (!/^\d+$/.test(text))
      this.fail(column, "wrong_form", `must be a whole number (digits only), not ${quote(text)}`);
    else if (Number(text) > max) this.fail(column, "too_large", `must be at most ${max}, not ${quote(text)}`);
    else return Number(text);
    return null;
  }

  fail(column: Column, code: string, message: string): void {
    this.errors.push({ row: this.#row, column, code, message });
  }
}

const QUOTED_MAX = 40;

/** Quotes a value in an error message, so that it can be found in a large file. */
export function quote(text: string): string {
  const characters = [...text];
  const isLong = characters.length > QUOTED_MAX;
  return JSON.stringify(isLong ? `${characters.slice(0, QUOTED_MAX).join("")}…` : text);
}
