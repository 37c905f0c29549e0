import { assert } from "../primitives/assert.ts";
import type { PoolId } from "../primitives/brand.ts";
import { type Allowance, type Catalog, getVersion, type PlanVersion } from "./catalog.ts";
import type { Assignment, GrantedAllowance, OveragePart, Wallet } from "./wallet.ts";

// Overage is usage beyond the customer's credits. The billing system invoices overage later. Each granted allowance has a separate overage
// count: a new period starts at 0, and a paused plan keeps its count.

/** A customer's overage in one pool in the current period. */
export type OveragePosition = {
  /** How much overage the plan allows per period. Null if unlimited. */
  readonly credits: number | null;
  readonly used: number;
  /** Overage that open holds have set aside. */
  readonly held: number;
  /** Null if unlimited. */
  readonly remaining: number | null;
};

/** Stands for "unlimited" in computations, so that no count exceeds 53 bits. */
const UNLIMITED = 2 ** 52;

/** Null if the plan does not allow overage in this pool. */
export function overagePosition(
  wallet: Wallet,
  version: PlanVersion | null,
  pool: PoolId,
): OveragePosition | null {
  const allowance = version?.allowances.find((other) => other.pool === pool);
  const granted = findGranted(wallet, pool);
  if (allowance === undefined || granted === undefined) return null;
  const credits = overageOf(wallet, allowance);
  if (credits === 0) return null;
  const { overageUsed: used, overageHeld: held } = granted;
  const remaining = credits === null ? null : Math.max(0, credits - used - held);
  return { credits, used, held, remaining };
}

/** How much more overage can be used. */
export function overageLeft(position: OveragePosition | null): number {
  if (position === null) return 0;
  return position.remaining ?? Math.max(0, UNLIMITED - position.used - position.held);
}

/** How much more overage the customer's current plan allows in a pool. */
export function overageLeftIn(catalog: Catalog, wallet: Wallet, pool: PoolId): number {
  const version = wallet.assignment === null ? null : getVersion(catalog, wallet.assignment.version);
  return overageLeft(overagePosition(wallet, version, pool));
}

/** The overage that the customer's override or the allowance permits. Null if unlimited. A change applies immediately. */
function overageOf({ overrides }: Pick<Wallet, "overrides">, { pool, period, overage }: Allowance) {
  const own = overrides?.allowances.find((other) => other.pool === pool && other.period === period);
  return own?.overage === undefined ? overage : own.overage;
}

/** Assigns new overage to the allowance of the current period. */
export function overageParts(wallet: Wallet, pool: PoolId, credits: number): readonly OveragePart[] {
  if (credits === 0) return [];
  const granted = findGranted(wallet, pool);
  assert(granted !== undefined, "overage belongs to an allowance");
  return [{ grant: granted.grant, credits }];
}

function findGranted({ assignment }: Wallet, pool: PoolId): GrantedAllowance | undefined {
  return assignment?.allowances.find((other) => other.pool === pool);
}

/** Multiplies overage parts by `used` and `held`, and adds them to their allowances' counts. Ignores parts from earlier periods. */
export function countOverage(
  wallet: Wallet,
  parts: readonly OveragePart[],
  { used = 0, held = 0 }: { readonly used?: number; readonly held?: number },
): Wallet {
  if (parts.length === 0) return wallet;
  const counted = (assignment: Assignment): Assignment => ({
    ...assignment,
    allowances: assignment.allowances.map((granted): GrantedAllowance => {
      let { overageUsed, overageHeld } = granted;
      for (const { grant, credits } of parts) {
        if (grant !== granted.grant) continue;
        overageUsed += used * credits;
        overageHeld += held * credits;
      }
      assert(overageUsed >= 0 && overageHeld >= 0, "no more overage is undone than was counted");
      return { ...granted, overageUsed, overageHeld };
    }),
  });
  return {
    ...wallet,
    assignment: wallet.assignment === null ? null : counted(wallet.assignment),
    paused: wallet.paused.map((plan) => ({ ...plan, assignment: counted(plan.assignment) })),
  };
}
