import type { Catalog, Cost, Feature } from "../../src/entitlement/catalog.ts";
import { brandAs, type FeatureKey, type Instant } from "../../src/primitives/brand.ts";
import type { Action, AskedItem, AskedQuantity } from "./actions.ts";
import {
  chooseDefault,
  featureAt,
  firstCatalog,
  overridesOf,
  planAt,
  poolAt,
  publish,
} from "./catalog-spec.ts";
import { allowanceIn } from "./credits.ts";
import { burnList, type Customer, copyOf, newCustomer } from "./customer.ts";
import type { History, Wait } from "./history.ts";
import { ask, noticed } from "./model.ts";
import type { Moment } from "./moments.ts";
import { nextMoment, passTime } from "./pass-time.ts";
import { type Item, isRefusal, type Request } from "./request.ts";

/** A history with concrete times and quantities, derived with the model. */
export type Script = {
  start: Instant;
  isKnown: boolean;
  firstCatalog: Catalog;
  steps: readonly ScriptStep[];
};

/** A step of a script. `catalog` is the catalog at that step. A step that only edits the catalog has no request. */
export type ScriptStep = {
  clock: Instant;
  catalog: Catalog;
  act:
    | { kind: "ask"; request: Request; isCheck: boolean }
    | { kind: "block"; isBlocked: boolean }
    | { kind: "edit" }
    | { kind: "notice" };
};

const QUANTITY_MAX = 1_000_000;
const DAY_MS = 86_400_000;
/** Maximum length of a history. The model steps through every period of it. */
const SPAN_MS = 800 * DAY_MS;

export function scriptOf(history: History): Script {
  const start = brandAs<Instant>(history.start);
  const first = firstCatalog(history.catalog, start);
  const steps: ScriptStep[] = [];
  let catalog = first;
  let clock = start;
  let customer = history.isKnown ? newCustomer(start) : null;
  for (const { wait, action } of history.steps) {
    clock = moved(wait, { catalog, customer, clock, start });
    if (action.kind === "publish")
      catalog = publish(catalog, { ...action, plan: action.plan % catalog.plans.size }, clock);
    if (action.kind === "default") catalog = chooseDefault(catalog, action.plan, clock);
    for (const act of actsOf(action, { catalog, customer, clock, start })) {
      steps.push({ clock, catalog, act });
      if (act.kind === "block" && customer !== null) customer.isBlocked = act.isBlocked;
      if (act.kind === "notice") customer = noticed(catalog, customer, clock);
      if (act.kind !== "ask" || act.isCheck) continue;
      const asked = ask(catalog, customer, act.request, clock);
      if (!isRefusal(asked.answer)) customer = asked.customer;
    }
  }
  return { start, isKnown: history.isKnown, firstCatalog: first, steps };
}

type Scene = { catalog: Catalog; customer: Customer | null; clock: Instant; start: Instant };

function moved(wait: Wait, { catalog, customer, clock, start }: Scene): Instant {
  switch (wait.kind) {
    case "pass":
      return brandAs<Instant>(Math.min(clock + wait.ms, Math.max(clock, start + SPAN_MS)));
    case "back":
      return brandAs<Instant>(clock - wait.ms);
    case "due": {
      if (customer === null) return clock;
      const ahead = copyOf(customer);
      passTime(catalog, ahead, Math.max(clock, ahead.now));
      for (let i = 0; i <= wait.nth; i++) {
        const next = nextMoment(catalog, ahead);
        if (next === null || next > start + SPAN_MS) break;
        passTime(catalog, ahead, next);
      }
      return brandAs<Instant>(Math.max(clock, ahead.now - wait.msBefore));
    }
  }
}

function actsOf(action: Action, scene: Scene): ScriptStep["act"][] {
  const { catalog, customer } = scene;
  const asks = (request: Request): ScriptStep["act"][] => [{ kind: "ask", request, isCheck: false }];
  switch (action.kind) {
    case "publish":
    case "default":
      return [{ kind: "edit" }];
    case "block":
    case "unblock":
      return [{ kind: "block", isBlocked: action.kind === "block" }];
    case "check":
    case "consume": {
      const items = itemsOf(action.items, scene);
      return [{ kind: "ask", request: { kind: "decide", items }, isCheck: action.kind === "check" }];
    }
    case "hold":
      return asks({ kind: "hold", items: itemsOf(action.items, scene), terms: action.terms });
    case "settle":
    case "release":
    case "extend":
      return onHold(action, scene);
    case "assign": {
      const startsAt = timeOf(action.startsAt, scene);
      const endsAt = action.endsAt.kind === "not_said" ? undefined : timeOf(action.endsAt, scene);
      const anchor = instantOf(action.anchor, scene);
      const { shorten } = action;
      // A billing event has exact times, never `period_end`.
      const isEvent = startsAt !== "period_end" && endsAt !== "period_end";
      const asOf = isEvent ? instantOf(action.asOf, scene) : null;
      const plan = planAt(catalog, action.plan);
      return asks({ kind: "assign", plan, anchor, startsAt, endsAt, shorten, asOf });
    }
    case "end":
      return asks({ kind: "end", asOf: instantOf(action.asOf, scene) });
    case "drop_next":
      return asks({ kind: "drop_next" });
    case "override": {
      const endsAt = instantOf(action.endsAt, scene);
      return asks({ kind: "override", ...overridesOf(catalog, action.terms), endsAt });
    }
    case "add":
      return Array.from({ length: action.times }, (_, i) => asks(addition(action, scene, i))).flat();
    case "revoke": {
      const count = action.named === "addition" ? (customer?.additions.length ?? 0) : openNow(scene).length;
      if (count === 0) return [];
      // First writes changes that are due, as viewing the grants would.
      return [
        { kind: "notice" },
        ...asks({ kind: "revoke", named: { by: action.named, index: action.nth % count } }),
      ];
    }
    case "reduce": {
      const pool = poolAt(catalog, action.pool);
      const ahead = noticed(catalog, customer, scene.clock);
      const left = ahead === null ? 0 : (allowanceIn(ahead, pool)?.remaining ?? 0);
      return asks({ kind: "reduce", pool, remaining: Math.floor(left * action.share) + action.more });
    }
    case "reverse":
    case "reverse_request": {
      const count = customer?.charges.length ?? 0;
      if (count === 0) return [];
      const consume = action.nth % count;
      if (action.kind === "reverse_request") return asks({ kind: action.kind, consume });
      return asks({ kind: "reverse", consume, quantity: action.quantity });
    }
  }
}

/** A request about one of the holds that no request has ended. It may have expired. */
function onHold(
  action: Extract<Action, { kind: "settle" | "release" | "extend" }>,
  scene: Scene,
): ScriptStep["act"][] {
  const left = (scene.customer?.holds ?? []).flatMap((hold, index) =>
    hold.state === "closed" ? [] : [{ ...hold, index }],
  );
  const hold = left[action.nth % Math.max(1, left.length)];
  if (hold === undefined) return [];
  const requestOf = (): Request | null => {
    switch (action.kind) {
      case "release":
        return { kind: "release", hold: hold.index };
      case "settle": {
        const quantities =
          action.used === null
            ? null
            : hold.uses.map(({ held }, index) => {
                const { times = 1, plus = 0 } = action.used?.[index] ?? {};
                return Math.min(QUANTITY_MAX, Math.floor(held * times) + plus);
              });
        return { kind: "settle", hold: hold.index, quantities, atMostHeld: action.atMostHeld };
      }
      case "extend": {
        const [use, ...others] = hold.uses;
        if (use === undefined || others.length > 0) return null;
        const { expiresAt } = action;
        const quantity =
          action.more === null ? null : Math.min(QUANTITY_MAX, Math.max(1, use.held + action.more));
        const end = expiresAt.kind === "in" ? { inMs: expiresAt.ms } : instantOf(expiresAt, scene);
        return { kind: "extend", hold: hold.index, quantity, expiresAt: end };
      }
    }
  };
  const request = requestOf();
  return request === null ? [] : [{ kind: "ask", request, isCheck: false }];
}

/** The additions of one action have different expiries, so that they do not merge. */
function addition(action: Extract<Action, { kind: "add" }>, scene: Scene, index: number): Request {
  const { source, credits, times } = action;
  const expiresAt =
    times === 1 ? instantOf(action.expiresAt, scene) : brandAs<Instant>(scene.clock + (index + 1) * DAY_MS);
  return { kind: "add", pool: poolAt(scene.catalog, action.pool), source, credits, expiresAt };
}

function timeOf(moment: Moment | { kind: "period_end" }, scene: Scene): Instant | "period_end" | null {
  return moment.kind === "period_end" ? "period_end" : instantOf(moment, scene);
}

function instantOf(moment: Moment, { clock, start }: Scene): Instant | null {
  if (moment.kind === "none") return null;
  const from = { from_now: clock, from_start: start, at: 0 }[moment.kind];
  return brandAs<Instant>(from + moment.ms);
}

function openNow({ catalog, customer, clock }: Scene): unknown[] {
  const ahead = noticed(catalog, customer, clock);
  return ahead === null ? [] : burnList(ahead);
}

function itemsOf(asked: readonly AskedItem[], scene: Scene): Item[] {
  const items: Item[] = [];
  for (const item of asked) {
    const feature = featureAt(scene.catalog, item.feature);
    if (items.some((earlier) => earlier.feature === feature)) continue;
    items.push({ feature, quantity: quantityOf(item.quantity, feature, items, scene) });
  }
  return items;
}

/** Computes the quantity that is available after the earlier items. */
function quantityOf(
  asked: AskedQuantity,
  feature: FeatureKey,
  earlier: readonly Item[],
  { catalog, customer, clock }: Scene,
): number {
  if (asked.kind === "of") return asked.quantity;
  const left =
    earlier.length === 0
      ? customer
      : ask(catalog, customer, { kind: "decide", items: earlier }, clock).customer;
  const { answer } = ask(catalog, left, { kind: "decide", items: [{ feature, quantity: 1 }] }, clock);
  const before = answer.kind === "decided" ? (answer.items[0]?.before ?? null) : null;
  if (answer.kind !== "decided" || before === null) return 1;
  const { balance, limit } = before;
  const version = answer.planVersion === null ? undefined : catalog.versions.get(answer.planVersion);
  const { id, cost } = getFeature(catalog, feature);
  const available =
    asked.kind === "drain"
      ? affordable(version?.features.get(id)?.cost ?? cost, balance)
      : (limit?.remaining ?? 1);
  return Math.min(QUANTITY_MAX, Math.max(1, available + asked.more));
}

/** The largest quantity that a balance pays for. */
function affordable({ credits, per }: Cost, balance: number): number {
  return credits === 0 ? 1 : Number((BigInt(balance) * BigInt(per)) / BigInt(credits));
}

function getFeature(catalog: Catalog, key: FeatureKey): Feature {
  const feature = catalog.features.get(key);
  if (feature === undefined) throw new Error("the feature does not exist");
  return feature;
}
