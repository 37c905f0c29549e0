import { type Static, Type } from "typebox";
import { REASONS } from "../../entitlement/decide.ts";
import { assertNever } from "../../primitives/assert.ts";
import { deniedItemsFields } from "../customers/denied-items.ts";
import { nullable, shownCustomerName, shownMember, shownOverrides, timeField } from "../fields.ts";
import { reasonField } from "../requests/describe-request.ts";
import { ChargeDetails } from "./key-story.ts";

const LimitPosition = nullable(
  Type.Object({
    quantity: Type.Integer({ examples: [5] }),
    used: Type.Integer({ examples: [4] }),
    remaining: Type.Integer({ examples: [1] }),
    resetsAt: nullable(timeField),
  }),
);

const overageOf = (description: string) =>
  nullable(
    Type.Object(
      {
        credits: nullable(
          Type.Integer({
            description: "Overage credits allowed in each period. Null means unlimited.",
            examples: [500],
          }),
        ),
        used: Type.Integer({ description: "Overage credits used in the period.", examples: [480] }),
        remaining: nullable(
          Type.Integer({
            description: "Overage credits neither used nor held. Null means unlimited.",
            examples: [20],
          }),
        ),
      },
      { description },
    ),
  );

const shortfallOf = (description: string) => nullable(Type.Integer({ description, examples: [18] }));

export const DenialExplanation = Type.Object({
  denialId: Type.String({ examples: ["den_01k9zq6n2wf3rvd0m6zj8b6c1t"] }),
  recordedAt: timeField,
  reason: Type.Enum([...REASONS]),
  sentences: Type.Array(Type.String(), {
    description: "Sentences to display. Do not parse them.",
    examples: [
      [
        "The request needed 50 credits for 5 × image.generate. Only 12 credits were left, plus 20 of the 500 credits of overage.",
        "Plan credits reset on 1 December 2026 00:00 UTC.",
      ],
    ],
  }),
  customerId: nullable(
    Type.String({ description: "Null if the customer was erased.", examples: ["customer_42"] }),
  ),
  customerName: shownCustomerName,
  feature: Type.String({ examples: ["image.generate"] }),
  quantity: Type.Integer({ examples: [5] }),
  ...deniedItemsFields,
  idempotencyKey: nullable(Type.String({ examples: ["job-7f3a-charge"] })),
  memberId: shownMember,
  metadata: nullable(Type.Record(Type.String(), Type.Unknown())),
  plan: nullable(
    Type.Object({
      key: Type.String({ examples: ["pro"] }),
      name: Type.String({ examples: ["Pro"] }),
      version: Type.Integer({ examples: [3] }),
    }),
  ),
  overrides: shownOverrides,
  isOverridden: Type.Boolean({
    description:
      "True if the customer's overrides set the cost or limit that caused the denial, or excluded the feature.",
  }),
  pool: Type.String({ examples: ["credits"] }),
  creditsRequired: Type.Integer({
    description:
      "The price of the request. For a request with `items`, the total of the denied item and all earlier items in the same pool.",
    examples: [50],
  }),
  balance: Type.Integer({ description: "The balance of the pool.", examples: [12] }),
  overage: overageOf(
    "Overage of the pool at the time of the denial. Null if no overage was allowed, or if the response is no longer stored.",
  ),
  shortfall: shortfallOf(
    "Credits that neither the balance nor overage covered. Null unless `reason` is `insufficient_credits`. Also null if the overage " +
      "is no longer known.",
  ),
  resetsAt: nullable(timeField),
  limit: LimitPosition,
  limitPeriod: nullable(
    Type.Enum(["day", "week", "month", "year", "once"], {
      description:
        "How often the limit resets. `once`: never. Null if there was no limit, or if its period is no longer known.",
    }),
  ),
  openGrants: nullable(
    Type.Array(
      Type.Object({
        grant: Type.Integer({ examples: [3] }),
        pool: Type.String({ examples: ["credits"] }),
        kind: Type.Enum(["allowance", "purchase", "manual", "promotion"]),
        remaining: Type.Integer({ examples: [12] }),
        expiresAt: nullable(timeField),
        reference: nullable(Type.String({ examples: ["pi_3MtwBwLkdIwHu7ix"] })),
      }),
      {
        description:
          "Grants, in any pool, that had credits left at the time of the denial. Held credits are not counted. Null if there are too " +
          "many ledger entries or hold changes to compute the list, or if some ledger entries are detached.",
      },
    ),
  ),
  chargesBefore: Type.Array(ChargeDetails, {
    description: "The latest charges before the denial, at most 10, within the workspace's history window.",
  }),
  now: nullable(
    Type.Object(
      {
        allowed: Type.Boolean(),
        reason: reasonField,
        feature: Type.String({
          description:
            "The feature that the following fields describe. With `items`, the feature of the item that would be denied now. If no item " +
            "would be denied, the feature of the item that was denied.",
          examples: ["image.generate"],
        }),
        creditsRequired: Type.Integer({ examples: [50] }),
        balance: Type.Integer({ examples: [512] }),
        overage: overageOf("The pool's current overage. Null if no overage is allowed."),
        shortfall: shortfallOf(
          "Credits that neither the balance nor overage covers. Null unless `reason` is `insufficient_credits`.",
        ),
        resetsAt: nullable(timeField),
        limit: LimitPosition,
      },
      {
        description:
          "The result of checking the same request now. Null if the customer was erased, or the feature no longer exists.",
      },
    ),
  ),
});

export type DenialExplanation = Static<typeof DenialExplanation>;

type Facts = Omit<DenialExplanation, "sentences">;

/** Explains why the request was denied, when the credits or the limit reset, and how the request would be decided now. */
export function denialSentences(facts: Facts): string[] {
  return [...whyDenied(facts), ...whatNow(facts)];
}

function whyDenied(facts: Facts): string[] {
  const { reason, feature, plan, pool, isOverridden } = facts;
  const planName = plan === null ? "The plan" : `Plan ${plan.name}, version ${plan.version},`;
  const own = `The customer's overrides (number ${facts.overrides})`;
  switch (reason) {
    case "insufficient_credits": {
      const where = pool === "credits" ? "" : ` in the ${pool} pool`;
      const before = (facts.deniedItem ?? 0) > 0 ? " and the earlier items that use the same pool" : "";
      const needed = `The request needed ${credits(facts.creditsRequired)} for ${facts.quantity} × ${feature}${before}.`;
      const rest = `${facts.balance === 0 ? "No" : "Only"} ${left(facts.balance, "was")}${where}${overage(facts)}.`;
      const cost = isOverridden ? [`${own} set the cost.`] : [];
      return [`${needed} ${rest}`, ...cost, resetSentence(facts.resetsAt)];
    }
    case "limit_reached": {
      const { limit } = facts;
      const allows = `${isOverridden ? `${own} allow` : `${planName} allows`} a quantity of at most ${limit?.quantity ?? 0} ${spanOf(facts.limitPeriod)} for ${feature}.`;
      const used = `${were(limit?.used ?? 0)} used, and the request needed ${facts.quantity} more.`;
      const resetsAt = limit?.resetsAt ?? null;
      const reset =
        resetsAt === null ? "The limit does not reset." : `The limit resets on ${readable(resetsAt)}.`;
      return [allows, used, reset];
    }
    case "feature_not_in_plan":
      return isOverridden ? [`${own} exclude ${feature}.`] : [`${planName} does not include ${feature}.`];
    case "customer_blocked":
      return [
        "The customer was blocked. All checks, charges and new holds for a blocked customer are denied.",
      ];
    case "no_active_plan":
      return ["The customer had no plan. Credits can only be used with a plan."];
    case "customer_not_found":
      return ["The customer did not exist, and there was no default plan."];
    default:
      return assertNever(reason);
  }
}

function spanOf(period: Facts["limitPeriod"]): string {
  if (period === null) return "per period";
  return period === "once" ? "in total" : `a ${period}`;
}

function whatNow({ now, creditsRequired }: Facts): string[] {
  if (now === null) return [];
  if (now.allowed) return ["The same request would be allowed now."];
  if (now.reason !== "insufficient_credits")
    return [`The same request would still be denied now (${now.reason}).`];
  const cost =
    now.creditsRequired === creditsRequired ? "" : ` it would need ${credits(now.creditsRequired)}, and`;
  return [
    `The same request would still be denied now:${cost} ${now.balance === 0 ? "no" : "only"} ${left(now.balance, "is")}${overage(now)}.`,
  ];
}

/** A phrase about the remaining overage, which follows the remaining credits. Empty if overage was not allowed, is unlimited or unknown. */
function overage({ balance, overage: position }: Pick<DenialExplanation, "balance" | "overage">): string {
  if (position === null || position.credits === null) return "";
  const { credits: allowed, remaining } = position;
  const some = balance === 0 ? `and only ${remaining}` : `plus ${remaining}`;
  return `, ${remaining === 0 ? "and none" : some} of the ${credits(allowed)} of overage`;
}

function resetSentence(resetsAt: string | null): string {
  return resetsAt === null
    ? "The plan adds no further credits."
    : `Plan credits reset on ${readable(resetsAt)}.`;
}

function credits(count: number): string {
  return count === 1 ? "1 credit" : `${count} credits`;
}

/** For example, "12 credits were left". For 0, returns "credits were left", to follow the word "no". */
function left(count: number, verb: "was" | "is"): string {
  if (count === 1) return `1 credit ${verb} left`;
  const many = `credits ${verb === "was" ? "were" : "are"} left`;
  return count === 0 ? many : `${count} ${many}`;
}

function were(count: number): string {
  return count === 1 ? "1 was" : `${count} were`;
}

const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** `2026-12-01T00:00:00.000Z` → `1 December 2026 00:00 UTC`. */
function readable(time: string): string {
  const [, year, month, day, clock] = /^(\d{4})-(\d\d)-(\d\d)T(\d\d:\d\d)/.exec(time) ?? [];
  return `${Number(day)} ${MONTHS[Number(month) - 1]} ${year} ${clock} UTC`;
}
