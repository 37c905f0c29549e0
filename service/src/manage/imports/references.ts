import type { CustomerNumber, PoolId } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { ReferencedGrant } from "../../store/cell/grants.ts";
import { FIRST_POOL } from "../catalog/content.ts";
import type { ImportedCredits } from "./import-row.ts";
import type { ImportedCustomer } from "./imported-customer.ts";

/** Existing grants by reference. References make an import safe to repeat. */
export type Referenced = ReadonlyMap<string, ReferencedGrant>;

/** An import's name and a customer. In a dry run, the customer number is null if the customer does not exist yet. */
export type Importing = { readonly name: string; readonly customerNumber: CustomerNumber | null };

type Pools = ReadonlyMap<string, PoolId>;

/** Returns all references that a customer's rows may use now, or may have used in an earlier import. */
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
 * Returns the reference for a row's credits. It contains the customer number instead of the customer ID, because references are
 * kept permanently and must not contain an erased ID.
 */
export function creditsReference(importing: Importing, given: ImportedCredits, pool: PoolId): string | null {
  const { kind, expiresAt, reference } = given;
  const plain = plainReference(importing);
  if (reference !== null || plain === null) return reference;
  if (given.pool === FIRST_POOL.key && kind === "manual" && expiresAt === null) return plain;
  return `${plain}:${pool}:${kind}:${expiresAt === null ? "never" : formatTimestamp(expiresAt)}`;
}

/** Returns the reference that marks the first allowance to which an import applied `allowanceRemaining`. */
export function planReference(importing: Importing): string | null {
  const plain = plainReference(importing);
  return plain === null ? null : `${plain}:plan`;
}

/** Finds the grant that an earlier import of the same row added. */
export function findEarlier(
  importing: Importing,
  given: ImportedCredits,
  pool: PoolId,
  referenced: Referenced,
): ReferencedGrant | null {
  const found = referenced.get(creditsReference(importing, given, pool) ?? "");
  if (found !== undefined) return found;
  // Release 0.1 used the same reference for all pools and expiries.
  const old = given.reference === null ? referenced.get(plainReference(importing) ?? "") : undefined;
  const isSame = old?.kind === given.kind && old.pool === pool && old.expiresAt === given.expiresAt;
  return isSame ? old : null;
}

function plainReference({ name, customerNumber }: Importing): string | null {
  return customerNumber === null ? null : `import:${name}:${customerNumber}`;
}
