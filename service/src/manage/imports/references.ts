import type { CustomerNumber, PoolId } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { ReferencedGrant } from "../../store/cell/grants.ts";
import { FIRST_POOL } from "../catalog/content.ts";
import type { ImportedCredits } from "./import-row.ts";
import type { ImportedCustomer } from "./imported-customer.ts";

/** Grants by their references, which make an import safe to repeat. */
export type Referenced = ReadonlyMap<string, ReferencedGrant>;

/** An import and a customer. The number is null in a dry run if the customer does not exist yet. */
export type Importing = { readonly name: string; readonly customerNumber: CustomerNumber | null };

type Pools = ReadonlyMap<string, PoolId>;

/** All references that the rows of a customer may use or have used. */
export function referencesOf(
  importing: Importing,
  { allowances, credits }: ImportedCustomer,
  pools: Pools,
): string[] {
  const references = credits.flatMap((given) => {
    const pool = pools.get(given.pool);
    return pool === undefined ? [] : [creditsReference(importing, given, pool), plainReference(importing)];
  });
  if (allowances.length > 0) references.push(planReference(importing));
  return references.filter((reference) => reference !== null);
}

/**
 * The reference of a row's credits. It contains our customer number, not the caller's ID, because a reference is kept forever and
 * must not contain an erased ID.
 */
export function creditsReference(importing: Importing, given: ImportedCredits, pool: PoolId): string | null {
  const { kind, expiresAt, reference } = given;
  const plain = plainReference(importing);
  if (reference !== null || plain === null) return reference;
  if (given.pool === FIRST_POOL.key && kind === "manual" && expiresAt === null) return plain;
  return `${plain}:${pool}:${kind}:${expiresAt === null ? "never" : formatTimestamp(expiresAt)}`;
}

/** Marks the first allowance of a plan that an import assigned with `allowanceRemaining`. */
export function planReference(importing: Importing): string | null {
  const plain = plainReference(importing);
  return plain === null ? null : `${plain}:plan`;
}

/** The grant that an earlier import of the row added. */
export function findEarlier(
  importing: Importing,
  given: ImportedCredits,
  pool: PoolId,
  referenced: Referenced,
): ReferencedGrant | null {
  const found = referenced.get(creditsReference(importing, given, pool) ?? "");
  if (found !== undefined) return found;
  // 0.1 used one reference for credits of every pool and expiry.
  const old = given.reference === null ? referenced.get(plainReference(importing) ?? "") : undefined;
  const isSame = old?.kind === given.kind && old.pool === pool && old.expiresAt === given.expiresAt;
  return isSame ? old : null;
}

function plainReference({ name, customerNumber }: Importing): string | null {
  return customerNumber === null ? null : `import:${name}:${customerNumber}`;
}
