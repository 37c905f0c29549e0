export type OpenGrant = {
  readonly number: number;
  readonly pool: number;
  readonly remaining: number;
  readonly expiresAtMs: number | null;
};

export type Counter = { readonly feature: number; readonly used: number; readonly fromSequence: number };

export type HeldPlan = {
  readonly number: number;
  readonly plan: number;
  readonly counters: readonly Counter[];
};

/** Of `wallets.state`, what the ledger must explain. */
export type WalletState = {
  readonly grantCount: number;
  readonly grants: readonly OpenGrant[];
  readonly assignment: HeldPlan | null;
  /** Plans that were left and may be taken up again; what they hold is part of no balance. */
  readonly paused: readonly HeldPlan[];
};

const FORM = 1;

/** Null when it is not in the form that is documented for it. Written apart from the service's decoder. */
export function findWalletState(text: string): WalletState | null {
  try {
    const [form, grantCount, , assignment, grants, paused] = list(JSON.parse(text));
    if (form !== FORM) return null;
    return {
      grantCount: whole(grantCount),
      grants: list(grants).map(readGrant),
      assignment: assignment === null ? null : readPlan(assignment),
      paused: list(paused).map((left) => readPlan(list(left)[0])),
    };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return null;
    throw error;
  }
}

function readGrant(value: unknown): OpenGrant {
  const [number, pool, , remaining, expiresAt] = list(value);
  return {
    number: whole(number),
    pool: whole(pool),
    remaining: whole(remaining),
    expiresAtMs: expiresAt === null ? null : whole(expiresAt),
  };
}

function readPlan(value: unknown): HeldPlan {
  const [number, plan, , , , , , counters] = list(value);
  return { number: whole(number), plan: whole(plan), counters: list(counters).map(readCounter) };
}

function readCounter(value: unknown): Counter {
  const [feature, , used, fromSequence] = list(value);
  return { feature: whole(feature), used: whole(used), fromSequence: whole(fromSequence) };
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new TypeError("not a list");
  return value;
}

function whole(value: unknown): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value)) throw new TypeError("not a whole number");
  return value;
}
