import { countOf, formatCount } from "./numbers.ts";
import { nameLeft } from "./overage.ts";
import { describeReason } from "./request-sentences.ts";
import { capitalize, formatLimit, formatSpan, type Period } from "./terms.ts";

type Limit = { readonly quantity: number; readonly used: number; readonly resetsAt: string | null } | null;

/** The facts behind a decision, at the time of the denial or now. */
type Position = {
  /** The feature of the request or, with several items, of the denied item. */
  readonly feature: string;
  readonly reason: string | null;
  readonly creditsRequired: number;
  readonly balance: number;
  /** Null if the plan allows no overage, or if the overage is no longer known. A null number means unlimited. */
  readonly overage: { readonly credits: number | null; readonly remaining: number | null } | null;
  /** Credits that neither the balance nor overage covers. Null for other denial reasons, or if the number is no longer known. */
  readonly shortfall: number | null;
  readonly resetsAt: string | null;
  readonly limit: Limit;
};

export type Denial = Position & {
  readonly reason: string;
  readonly customerId: string | null;
  readonly quantity: number;
  /** The items of the request. Null for a request without items. */
  readonly items: readonly RequestItem[] | null;
  readonly pool: string;
  /** The limit's period. Null if it is no longer known. */
  readonly limitPeriod: Period | null;
  readonly plan: { readonly name: string } | null;
  /** Whether the customer's overrides set the cost, the limit or the exclusion. */
  readonly isOverridden: boolean;
  readonly now: (Position & { readonly allowed: boolean }) | null;
};

export type RequestItem = { readonly feature: string; readonly quantity: number };

/** Whether the reason concerns the customer as a whole, not an item of the request. */
export function isOfCustomer(reason: string | null): boolean {
  return reason === "customer_blocked" || reason === "no_active_plan" || reason === "customer_not_found";
}

/** Formats a time in the selected time zone. */
type FormatTime = (at: string) => string;

const OVERRIDE = "An override for this customer";

/** `unit` is the unit of the denied feature, for example "export". */
export type NamedDenial = Denial & { readonly unit: string | null };

/** Why the request was denied, and when the limit or allowance resets. */
export function whyDenied(denial: NamedDenial, format: FormatTime): string[] {
  const { reason, feature, plan, isOverridden } = denial;
  const ofPlan = plan?.name ?? "The plan";
  switch (reason) {
    case "insufficient_credits":
      return [
        creditsSentence(denial),
        ...(isOverridden ? [`${OVERRIDE} sets the cost.`] : []),
        ...lostOverage(denial),
        creditsReset(denial, format),
      ];
    case "limit_reached":
      return [limitSentence(denial, isOverridden ? OVERRIDE : ofPlan), limitReset(denial.limit, format)];
    case "feature_not_in_plan":
      return [
        `${isOverridden ? `${OVERRIDE} excludes` : `${ofPlan} does not include`} ${feature}. Adding credits does not change that.`,
      ];
    case "customer_blocked":
      return [
        "The customer was blocked. All checks, charges and new holds for a blocked customer are denied.",
      ];
    case "no_active_plan":
      return ["The customer had no plan. Credits can be spent only with a plan."];
    case "customer_not_found":
      return ["The customer did not exist, and there was no default plan."];
    default:
      return [`${describeReason(reason)}.`];
  }
}

function creditsSentence(denial: Denial): string {
  const { feature, quantity, creditsRequired, pool } = denial;
  const isLater = hasItemsBefore(denial, feature);
  const asked = `${formatCount(quantity)} × ${feature}${isLater ? " and the earlier items that use the same pool" : ""}`;
  const where = pool === "credits" ? "" : ` in the ${pool} pool`;
  const cost = quantity === 1 && !isLater ? "costs" : "cost";
  return `${asked} ${cost} ${countOf(creditsRequired, "credit")}. ${describeLeft(denial, "was", where)}`;
}

/** "Only 20 credits were left in the gpu pool. That is 10 credits short." */
function describeLeft({ balance, overage, shortfall }: Position, one: "was" | "is", where = ""): string {
  const left = nameLeft(balance, overage);
  const isOne = left === "only 1 credit" || left === "only 1 credit of overage";
  const verb = isOne ? one : one === "was" ? "were" : "are";
  const short = shortfall === null ? "" : ` That is ${countOf(shortfall, "credit")} short.`;
  return `${capitalize(left)} ${verb} left${where}.${short}`;
}

function lostOverage({ shortfall }: Position): string[] {
  return shortfall === null ? ["The overage remaining at the time is no longer on record."] : [];
}

function creditsReset({ resetsAt }: Position, format: FormatTime): string {
  return resetsAt === null
    ? "The plan does not renew credits in this pool."
    : `Plan credits renew on ${format(resetsAt)}.`;
}

function limitSentence({ limit, limitPeriod, feature, unit, quantity }: NamedDenial, ofPlan: string): string {
  const { quantity: most = 0, used = 0 } = limit ?? {};
  const allowed =
    unit === null
      ? `${ofPlan} limits ${feature} to ${formatCount(most)} ${formatSpan(limitPeriod)}.`
      : `${ofPlan} allows ${formatLimit({ quantity: most, period: limitPeriod }, unit)}.`;
  if (most > 0 && used >= most)
    return `${allowed} ${most === 1 ? "That one" : `All ${formatCount(most)}`} had already been used.`;
  if (used === 0) return `${allowed} None were used, but the request asked for ${formatCount(quantity)}.`;
  const were = used === 1 ? "1 was used" : `${formatCount(used)} were used`;
  return `${allowed} ${were}, and the request asked for ${formatCount(quantity)} more.`;
}

function limitReset(limit: Limit, format: FormatTime): string {
  const resetsAt = limit?.resetsAt ?? null;
  return resetsAt === null ? "This limit does not reset." : `The limit resets on ${format(resetsAt)}.`;
}

type Items = Pick<Denial, "items">;

/** Whether the required credits may include credits for earlier items, because the denied item is not the first. */
function hasItemsBefore({ items }: Items, feature: string): boolean {
  return items !== null && items[0]?.feature !== feature;
}

/** "36 credits, including earlier items that use the same pool". */
export function describeRequired(denial: Items & { feature: string; creditsRequired: number }): string {
  const before = hasItemsBefore(denial, denial.feature)
    ? ", including earlier items that use the same pool"
    : "";
  return `${countOf(denial.creditsRequired, "credit")}${before}`;
}

/** The quantity of the item that is denied. */
function quantityOf({ items, quantity }: Denial, feature: string): number {
  return items?.find((item) => item.feature === feature)?.quantity ?? quantity;
}

export type SumLine = { readonly name: string; readonly value: number; readonly isResult: boolean };

/** Lines of the calculation, at the time of the denial or now. The last line is the shortfall or the excess, if it is known. */
export function sumOf(denial: Denial, position: Position = denial): SumLine[] {
  const { feature, reason, creditsRequired, balance, overage, shortfall, limit } = position;
  const overageLeft = overage?.remaining ?? null;
  const quantity = quantityOf(denial, feature);
  const line = (name: string, value: number, isResult = false): SumLine => ({ name, value, isResult });
  if (reason === "insufficient_credits") {
    return [
      line(
        hasItemsBefore(denial, feature) ? "Required, including earlier items" : "Required",
        creditsRequired,
      ),
      line("Available", balance),
      ...(overageLeft === null ? [] : [line("Overage left", overageLeft)]),
      ...(shortfall === null ? [] : [line("Shortfall", shortfall, true)]),
    ];
  }
  if (reason !== "limit_reached" || limit === null) return [];
  return [
    line("Allowed per period", limit.quantity),
    line("Already used", limit.used),
    line("Requested", quantity),
    line("Over the limit", limit.used + quantity - limit.quantity, true),
  ];
}

/** Whether the same request would be allowed now. */
export function describeNow(denial: Denial, nameOf: (feature: string) => string): string[] {
  const { customerId, feature, items, creditsRequired, now } = denial;
  if (customerId === null) return ["The customer has been erased."];
  if (now === null)
    return [
      items === null
        ? `The feature ${nameOf(feature)} no longer exists.`
        : "A feature in the request no longer exists.",
    ];
  if (now.allowed) {
    const overage = Math.max(0, now.creditsRequired - now.balance);
    const cost = `${countOf(now.creditsRequired, "credit")}${describeOverageIn(overage, now.creditsRequired)}`;
    return [
      // With items, `creditsRequired` does not cover the whole request.
      now.creditsRequired === 0 || items !== null
        ? "The same request would be allowed now."
        : `The same request would be allowed now. It would cost ${cost}; the balance is ${formatCount(now.balance)}.`,
      "Send the request with a new idempotency key. The old key always returns this denial.",
    ];
  }
  const still = describeStill(denial, now, nameOf);
  switch (now.reason) {
    case "insufficient_credits": {
      const needs = countOf(now.creditsRequired, "credit");
      const by = now.creditsRequired === creditsRequired ? "" : " now";
      return [`The same request ${still}. It needs ${needs}${by}. ${describeLeft(now, "is")}`];
    }
    case "limit_reached":
      return [
        `The same request ${still}. ${formatCount(now.limit?.used ?? 0)} of ${formatCount(now.limit?.quantity ?? 0)} ${now.limit?.used === 1 ? "is" : "are"} used, and the request asks for ${formatCount(quantityOf(denial, now.feature))}.`,
      ];
    default:
      return [`The same request ${still}. ${describeReason(now.reason ?? "")}.`];
  }
}

function describeStill(
  { feature, reason }: Denial,
  now: Position,
  nameOf: (feature: string) => string,
): string {
  if (now.feature !== feature && !isOfCustomer(now.reason))
    return `would now be denied because of another item, ${nameOf(now.feature)}`;
  return now.reason === reason ? "would still be denied" : "would now be denied for another reason";
}

/** After the credits that a request costs: ", 5 of them overage". */
function describeOverageIn(overage: number, creditsRequired: number): string {
  if (overage === 0) return "";
  if (overage === creditsRequired) return overage === 1 ? ", as overage" : ", all of them overage";
  return `, ${formatCount(overage)} of them overage`;
}

export type NextStep =
  /** `missing` is the number of missing credits. Null if it is not known. */
  | { readonly kind: "add-credits"; readonly missing: number | null }
  | { readonly kind: "assign-plan" }
  | { readonly kind: "edit-plan" }
  | { readonly kind: "edit-overrides" }
  | { readonly kind: "unblock" }
  | { readonly kind: "define-feature" };

/** Actions that can resolve the denial, most likely first. */
export function nextStepsOf({
  customerId,
  reason,
  items,
  plan,
  isOverridden,
  now,
}: Pick<Denial, "customerId" | "reason" | "items" | "plan" | "isOverridden" | "now">): NextStep[] {
  if (customerId === null) return [];
  // With items, it is not known which feature is missing.
  if (now === null) return items === null ? [{ kind: "define-feature" }] : [];
  const editPlan: NextStep[] = plan === null ? [] : [{ kind: "edit-plan" }];
  switch (now.reason) {
    case "insufficient_credits":
      return [{ kind: "add-credits", missing: now.shortfall }, { kind: "assign-plan" }];
    case "limit_reached":
    case "feature_not_in_plan":
      // Overrides are kept when the plan changes.
      return isOverridden && now.reason === reason
        ? [{ kind: "edit-overrides" }]
        : [{ kind: "assign-plan" }, ...editPlan];
    case "no_active_plan":
      return [{ kind: "assign-plan" }];
    case "customer_blocked":
      return [{ kind: "unblock" }];
    default:
      return [];
  }
}

/** When the request will be allowed without any action; null if never, or if another sentence already states it. */
export function describeWait({ now, items, quantity }: Denial, format: FormatTime): string | null {
  if (now === null || now.allowed) return null;
  if (now.reason === "insufficient_credits" && now.resetsAt !== null) {
    return `You can wait until plan credits renew on ${format(now.resetsAt)}.`;
  }
  const { limit } = now;
  if (now.reason !== "limit_reached" || limit === null || limit.resetsAt === null) return null;
  return items === null && quantity > limit.quantity
    ? "Waiting will not help: the requested quantity is larger than the limit."
    : `You can wait until the limit resets on ${format(limit.resetsAt)}.`;
}
