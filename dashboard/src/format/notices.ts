import { countOf, formatCount } from "./numbers.ts";

/** Names of the types of notices, and when webhooks receive them. */
export const NOTICE_TYPES = {
  "balance.low": { name: "Low balance", when: "A balance falls below a threshold." },
  "balance.depleted": { name: "Depleted balance", when: "A balance falls to 0." },
  "overage.started": { name: "Overage started", when: "A customer begins to use overage." },
  "limit.reached": { name: "Limit reached", when: "A limit is used up, including held units." },
  "plan.changed": { name: "Plan changed", when: "Another plan starts." },
  "plan.ended": { name: "Plan ended", when: "An assigned plan ends, and no other plan was assigned." },
  "hold.expired": { name: "Hold expired", when: "A hold expired before it was settled or released." },
  "hold.uncovered": {
    name: "Hold not covered",
    when: "A settlement costs more credits than the customer has.",
  },
  "topup.due": { name: "Top-up due", when: "A customer's rule requests credits." },
} as const satisfies Record<string, { name: string; when: string }>;

export type NoticeType = keyof typeof NOTICE_TYPES;

export const NOTICE_GROUPS = [
  { name: "Balances", types: ["balance.low", "balance.depleted", "overage.started"] },
  { name: "Limits", types: ["limit.reached"] },
  { name: "Plans", types: ["plan.changed", "plan.ended"] },
  { name: "Holds", types: ["hold.expired", "hold.uncovered"] },
  { name: "Top-ups", types: ["topup.due"] },
] as const satisfies readonly { name: string; types: readonly NoticeType[] }[];

/** Sent only by the test of a webhook. */
export const TEST_TYPE = "webhook.test";

/** Later releases can add types, which are shown as they are. */
export function nameNotice(type: string): string {
  if (type === TEST_TYPE) return "Test";
  return isNoticeType(type) ? NOTICE_TYPES[type].name : type;
}

function isNoticeType(type: string): type is NoticeType {
  return type in NOTICE_TYPES;
}

/** "All types", "Low balance, Plan ended". */
export function nameNotices(types: readonly string[]): string {
  const isAll = Object.keys(NOTICE_TYPES).every((type) => types.includes(type));
  return isAll ? "All types" : types.map(nameNotice).join(", ");
}

type Data = Readonly<Record<string, unknown>>;

type Names = {
  readonly pool: (key: string) => string;
  readonly feature: (key: string) => string;
  readonly plan: (key: string) => string;
  readonly time: (at: string) => string;
};

/** The figures of a notice in words: "Credits fell below 100. 95 left." Null if there are none. */
export function describeNotice(type: string, data: Data, names: Names): string | null {
  if (!isNoticeType(type)) return null;
  const pool = names.pool(textIn(data, "pool"));
  const feature = names.feature(textIn(data, "feature"));
  const plan = names.plan(textIn(data, "plan"));
  const balance = numberIn(data, "balance");
  switch (type) {
    case "balance.low":
      return `${pool} fell below ${formatCount(numberIn(data, "threshold"))}. ${formatCount(balance)} left.`;
    case "balance.depleted":
      // A reversal in the same change can raise the balance again.
      return balance === 0
        ? `${pool} fell to 0.`
        : `${pool} fell to 0, then rose to ${formatCount(balance)}.`;
    case "overage.started":
      return `${pool}: overage in use.`;
    case "limit.reached": {
      const resetsAt = textIn(data, "resetsAt");
      const reset = resetsAt === "" ? "Never resets." : `Resets ${names.time(resetsAt)}.`;
      return `${feature}: all ${formatCount(numberIn(data, "limit"))} used. ${reset}`;
    }
    case "plan.changed": {
      const previous = textIn(data, "previousPlan");
      return `${previous === "" ? "No plan" : names.plan(previous)} → ${plan}.`;
    }
    case "plan.ended":
      return `${plan} ended.`;
    case "hold.expired":
      return data["charged"] === true ? "The hold was charged in full." : "The hold was released.";
    case "hold.uncovered":
      return `${feature}: ${countOf(numberIn(data, "credits"), "credit")} not covered.`;
    case "topup.due": {
      const attempt = numberIn(data, "attempt");
      const repeat = attempt > 1 ? `, attempt ${formatCount(attempt)}` : "";
      return `${pool}: ${formatCount(numberIn(data, "credits"))} requested${repeat}. ${formatCount(balance)} left.`;
    }
  }
}

/** Empty if the field is missing or null. */
function textIn(data: Data, field: string): string {
  const value = data[field];
  return typeof value === "string" ? value : "";
}

function numberIn(data: Data, field: string): number {
  const value = data[field];
  return typeof value === "number" ? value : 0;
}

/** The hold that a notice is about. Null if it is about something else. */
export function holdOfNotice(data: Data): string | null {
  return textIn(data, "holdId") || null;
}
