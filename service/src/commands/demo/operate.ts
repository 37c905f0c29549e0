import { addCredits } from "../../entitlement/add-credits.ts";
import { assignPlan } from "../../entitlement/assign-plan.ts";
import type { Change } from "../../entitlement/entry.ts";
import { reverseConsume } from "../../entitlement/reverse-consume.ts";
import { compareWallets } from "../../entitlement/view-wallet.ts";
import type { Actor } from "../../primitives/actor.ts";
import { assert, assertNever } from "../../primitives/assert.ts";
import type { Instant } from "../../primitives/brand.ts";
import { consumeId } from "../../primitives/consume-id.ts";
import { publicId } from "../../primitives/public-id.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { type Annotation, WalletChanges } from "../../store/cell/wallet-changes.ts";
import type { ManageAct } from "./act.ts";
import { planIdOf } from "./demo-catalog.ts";
import { findCharge, type Known, type Moment, type World } from "./moment.ts";

/** The change that an operation makes, and its audit entry. */
type Done = {
  readonly change: Change | null;
  readonly annotation: Annotation;
  readonly actor: Actor;
  readonly action: string;
  readonly subject: string;
  readonly details: object;
};

/** The authors of changes: a billing webhook and a support agent. */
const ACTORS = {
  billing: { kind: "token", id: "billing", requestId: null },
  support: { kind: "member", id: "robin@support.example", requestId: null },
} as const satisfies Record<string, Actor>;

/** Decides and records a management operation as `manage` would. */
export function operate(
  world: World,
  known: Known,
  act: ManageAct & { readonly at: Instant },
  past: readonly Moment[],
): Moment {
  const done = decideAct(world, known, act, past);
  const { change, annotation, actor, action, subject, details } = done;
  assert(change !== null, "an operation in the demo changes something");
  const { environmentId, customerNumber } = known;
  const changes = new WalletChanges();
  changes.add(known, change, annotation);
  const compared = compareWallets({ ...known, catalog: world.catalog, clock: act.at }, change.wallet);
  const audit = { action, subject, before: compared.before, after: { ...compared.after, ...details } };
  return {
    at: act.at,
    wallet: change.wallet,
    changes,
    denials: [],
    events: [],
    keyedRequests: [],
    audits: [{ ...audit, environmentId, customerNumber, recordedAt: act.at, actor }],
    logged: null,
  };
}

function decideAct(
  world: World,
  known: Known,
  act: ManageAct & { readonly at: Instant },
  past: readonly Moment[],
): Done {
  switch (act.kind) {
    case "assign":
      return assign(world, known, act);
    case "add_credits":
      return add(world, known, act);
    case "reverse":
      return reverse(world, known, act, past);
    default:
      return assertNever(act);
  }
}

type ActOf<K extends ManageAct["kind"]> = Extract<ManageAct, { kind: K }> & { readonly at: Instant };

function assign({ catalog }: World, { wallet }: Known, { plan, endsAt, at }: ActOf<"assign">): Done {
  const request = { plan: planIdOf(catalog, plan), anchor: null, endsAt };
  const outcome = assignPlan(catalog, wallet, request, at);
  assert(outcome.kind === "changed", "the demo assigns plans that are not active");
  return {
    change: outcome.change,
    annotation: {},
    actor: ACTORS.billing,
    action: "plan.assigned",
    subject: plan,
    details: {},
  };
}

function add({ catalog }: World, { wallet }: Known, act: ActOf<"add_credits">): Done {
  const { grant: kind, credits, expiresAt, reference, price, note, at } = act;
  const [pool] = catalog.pools.keys();
  assert(pool !== undefined, "the demo has a pool");
  const outcome = addCredits(catalog, wallet, { pool, kind, credits, expiresAt }, at);
  assert(outcome.kind === "added", "the demo adds credits that can be added");
  const { number } = outcome.grant;
  return {
    change: outcome.change,
    annotation: { grant: { number, origin: { reference, price, note } } },
    actor: ACTORS[act.by],
    action: "credits.added",
    subject: `grant ${number}`,
    details: { kind, credits, expiresAt: expiresAt === null ? null : formatTimestamp(expiresAt), price },
  };
}

function reverse(
  { catalog }: World,
  known: Known,
  { key, at }: ActOf<"reverse">,
  past: readonly Moment[],
): Done {
  const charge = findCharge(past, key);
  assert(charge !== null && charge.row.entry.usage !== null, "the demo reverses an existing charge");
  const { entry } = charge.row;
  const consume = { ...entry, ...charge.row.entry.usage, reversedQuantity: 0 };
  const grants = past.flatMap((moment) =>
    moment.changes.grants.map(({ grant }) => ({
      ...grant,
      slot: grant.mergedInto ?? grant.number,
      isRevoked: false,
    })),
  );
  const request = { consumes: [consume], quantity: null, grants, overrides: [] };
  const outcome = reverseConsume(catalog, known.wallet, request, at);
  assert(outcome.kind === "reversed", "the demo reverses a charge once");
  const { change, credits, quantity } = outcome;
  const { customerNumber } = known;
  const id = consumeId({ recordedAt: charge.at, customerNumber, sequence: entry.sequence });
  return {
    change,
    annotation: {},
    actor: ACTORS.support,
    action: "consume.reversed",
    subject: publicId("con", id),
    details: { credits, quantity },
  };
}
