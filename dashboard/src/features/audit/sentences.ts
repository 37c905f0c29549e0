import { countOf } from "../../format/numbers.ts";
import { formatCharge } from "../../format/overage.ts";
import { countIn, type Entry, isRecord, listIn, textIn } from "./entry.ts";
import { MEMBER_SENTENCES } from "./member-sentences.ts";
import { type Describe, type Piece, strong, subject } from "./piece.ts";

const CUSTOMER: Piece = { kind: "customer", text: "" };
const plan = (key: string): Piece => ({ kind: "plan", text: key });
const planOf = ({ subject: key }: Entry): Piece => plan(key);
const featureOf = ({ subject: key }: Entry): Piece => ({ kind: "feature", text: key });
/** A pool or event key by the name in the entry. */
const named = ({ after, subject: key }: Entry): Piece => strong(textIn(after, "name") ?? key);
const changedIn = ({ after }: Entry): Piece => strong(countOf(countIn(after, "changed") ?? 0, "customer"));
const isNew = ({ before }: Entry): boolean => before === null;

/** Sentence for each audited action. */
const SENTENCES: Readonly<Record<string, Describe>> = {
  "credits.added": (entry) => ["added ", ...creditsOf(entry), " to ", CUSTOMER],
  "credits.moved": (entry) => {
    const isSource = entry.after?.["movedTo"] !== undefined;
    const other = otherCustomer(entry, isSource ? "movedTo" : "movedFrom");
    const [source, target] = isSource ? [CUSTOMER, other] : [other, CUSTOMER];
    return ["moved ", ...creditsOf(entry), " from ", source, " to ", target];
  },
  "grant.revoked": (entry) => [
    "revoked ",
    ...creditsOf(entry),
    ` (${entry.subject}) from `,
    CUSTOMER,
    ...reasonOf(entry),
  ],
  "consume.reversed": (entry) => [
    overageOf(entry) === 0 ? "reversed a charge and returned " : "reversed a charge, returned ",
    ...creditsOf(entry),
    " to ",
    CUSTOMER,
    ...reversedOverage(entry),
    ...reasonOf(entry),
  ],
  "hold.released": (entry) => [
    "released a hold of ",
    ...creditsOf(entry, overageOf(entry)),
    " for ",
    CUSTOMER,
  ],
  "plan.assigned": (entry) =>
    newEnd(entry) ?? ["assigned plan ", planOf(entry), " to ", CUSTOMER, ...insteadOf(entry)],
  "plan.ended": ({ before }) => ["ended plan ", plan(textIn(before, "plan") ?? "none"), " for ", CUSTOMER],
  "plan.scheduled": (entry) => ["scheduled plan ", planOf(entry), " for ", CUSTOMER],
  "plan.unscheduled": ({ before }) => [
    "canceled the scheduled change to plan ",
    plan(textIn(before, "nextPlan") ?? "none"),
    " for ",
    CUSTOMER,
  ],
  "overrides.set": ({ after }) => [
    isRecord(after) && after["overrides"] === null ? "removed the overrides for " : "set overrides for ",
    CUSTOMER,
  ],
  "alerts.set": () => ["set alerts and top-ups for ", CUSTOMER],
  "plan.assigned_in_bulk": (entry) => ["assigned plan ", planOf(entry), " to ", changedIn(entry)],
  "credits.added_in_bulk": (entry) => [
    "added ",
    ...creditsOf(entry),
    countIn(entry.after, "changed") === 1 ? " to " : " to each of ",
    changedIn(entry),
  ],
  "customers.blocked_in_bulk": (entry) => ["blocked ", changedIn(entry)],
  "customers.unblocked_in_bulk": (entry) => ["unblocked ", changedIn(entry)],
  "change.undone": ({ after }) => [
    "undid a bulk change for ",
    // The grants of customers who had spent all credits are revoked too.
    strong(countOf((countIn(after, "undone") ?? 0) + (countIn(after, "all_spent") ?? 0), "customer")),
  ],
  "customer.created": () => ["created customer ", CUSTOMER],
  "customer.changed": ({ after }) => ["edited ", ...fieldsOf(listIn(after, "fields")), CUSTOMER],
  "customer.blocked": () => ["blocked ", CUSTOMER],
  "customer.unblocked": () => ["unblocked ", CUSTOMER],
  "customer.erased": () => ["erased ", CUSTOMER],
  "bulk_change.started": () => ["started a bulk change"],
  "customers.imported": (entry) => ["imported customers from ", subject(entry)],
  "events.exported": (entry) => exported(entry, "usage events"),
  "charges.exported": (entry) => exported(entry, "charges"),
  "ledger.exported": (entry) => exported(entry, "the ledger"),
  "grants.exported": (entry) => exported(entry, "grants"),
  "audit.exported": (entry) => exported(entry, "the audit log"),
  "request.tried": (entry) => [
    `sent ${countOf(countIn(entry.after, "times") ?? 1, "test request")} for `,
    featureOf(entry),
    " as ",
    CUSTOMER,
  ],
  "feature.defined": (entry) => [isNew(entry) ? "created feature " : "edited feature ", featureOf(entry)],
  "feature.archived": (entry) => ["archived feature ", featureOf(entry)],
  "feature.unarchived": (entry) => ["restored feature ", featureOf(entry)],
  "pool.defined": (entry) => [isNew(entry) ? "created pool " : "edited pool ", named(entry)],
  "event_key.named": (entry) => [isNew(entry) ? "named event key " : "edited event key ", named(entry)],
  "plan.published": (entry) => [
    `published version ${countIn(entry.after, "number") ?? "?"} of plan `,
    planOf(entry),
  ],
  "plan.renamed": (entry) => ["renamed plan ", subject(entry), ...fromTo(entry)],
  "plan.archived": (entry) => ["archived plan ", planOf(entry)],
  "plan.unarchived": (entry) => ["restored plan ", planOf(entry)],
  "plan_draft.saved": (entry) => ["saved a draft of plan ", planOf(entry)],
  "plan_draft.discarded": (entry) => ["discarded the draft of plan ", planOf(entry)],
  "default_plan.set": ({ after }) => {
    const key = textIn(after, "plan");
    return key === null ? ["removed the default plan"] : ["set the default plan to ", plan(key)];
  },
  "api_key.created": (entry) => ["created API key ", subject(entry)],
  "api_key.rotated": (entry) => ["rotated API key ", subject(entry)],
  "api_key.revoked": (entry) => ["revoked API key ", subject(entry)],
  "webhook.created": (entry) => ["created webhook ", subject(entry)],
  "webhook.changed": (entry) => ["edited webhook ", subject(entry)],
  "webhook.deleted": (entry) => ["deleted webhook ", subject(entry)],
  "webhook.secret_rotated": (entry) => ["rotated the secret for webhook ", subject(entry)],
  "webhook.replayed": (entry) => ["replayed notices to webhook ", subject(entry)],
  "token.created": (entry) => ["created management token ", subject(entry)],
  "token.revoked": (entry) => ["revoked management token ", subject(entry)],
  "project.created": (entry) => ["created project ", subject(entry)],
  "project.renamed": (entry) => ["renamed a project", ...fromTo(entry)],
  "workspace.changed": () => ["edited the workspace settings"],
  "workspace.second_factor_changed": ({ after }) => {
    const role = textIn(after, "requiredFrom");
    if (role === null) return ["stopped requiring a second factor"];
    return ["required a second factor from ", strong(role === "owner" ? "owners" : `${role}s and above`)];
  },
  ...MEMBER_SENTENCES,
};

export function describeAction(entry: Entry): Piece[] {
  const notify = SENTENCES[entry.action] ?? describeUnknown;
  return notify(entry).map((piece) => (typeof piece === "string" ? { kind: "text", text: piece } : piece));
}

export function isKnownAction(action: string): boolean {
  return action in SENTENCES;
}

/** For actions that this version does not recognize. */
const describeUnknown: Describe = (entry) => [
  `${entry.action.replace(/[._]/g, " ")}: `,
  subject(entry),
  ...(entry.customerId === null ? [] : [" for ", CUSTOMER]),
];

function exported({ after }: Entry, what: string): (Piece | string)[] {
  const format = textIn(after, "format")?.toUpperCase();
  return ["exported ", strong(what), format === undefined ? "" : ` as ${format}`];
}

/** "500 credits", with the pool name if only one pool changed and it is not the default pool. */
function creditsOf({ before, after }: Entry, overage = 0): (Piece | string)[] {
  const [was, is] = [before?.["balances"], after?.["balances"]];
  const [pool, ...others] =
    isRecord(was) && isRecord(is) ? Object.keys(is).filter((key) => is[key] !== was[key]) : [];
  const credits = strong(formatCharge({ credits: Math.abs(countIn(after, "credits") ?? 0), overage }));
  return pool === undefined || pool === "credits" || others.length > 0
    ? [credits]
    : [credits, " (", { kind: "pool", text: pool }, ")"];
}

function otherCustomer({ after }: Entry, field: "movedFrom" | "movedTo"): Piece {
  const customerId = textIn(after, field);
  if (customerId === null) return strong("an erased customer");
  return { kind: "other customer", text: textIn(after, `${field}Name`) ?? customerId, customerId };
}

/** The reason that a person entered. */
function reasonOf({ after }: Entry): string[] {
  const note = textIn(after, "note");
  return note === null ? [] : [`: ${note}`];
}

function overageOf({ after }: Entry): number {
  return countIn(after, "overageCredits") ?? 0;
}

function reversedOverage(entry: Entry): (Piece | string)[] {
  const overage = overageOf(entry);
  return overage === 0 ? [] : [" and reversed ", strong(formatCharge({ credits: 0, overage }))];
}

/** A sentence about a new end date. Null if the plan changed, or if the end date did not. */
function newEnd(entry: Entry): (Piece | string)[] | null {
  const { before, after } = entry;
  const isSamePlan = textIn(before, "plan") !== null && textIn(before, "plan") === textIn(after, "plan");
  const [was, is] = [textIn(before, "endsAt"), textIn(after, "endsAt")];
  if (!isSamePlan || was === is) return null;
  return [
    is === null ? "removed the end date of plan " : "set the end date of plan ",
    planOf(entry),
    " for ",
    CUSTOMER,
  ];
}

function insteadOf({ before, after }: Entry): (Piece | string)[] {
  const [was, is] = [textIn(before, "plan"), textIn(after, "plan")];
  return was === null || was === is ? [] : [" instead of ", plan(was)];
}

function fromTo({ before, after }: Entry): (Piece | string)[] {
  const [was, is] = [textIn(before, "name"), textIn(after, "name")];
  return was === null || is === null ? [] : [" from ", strong(was), " to ", strong(is)];
}

const FIELD_NAMES: Readonly<Record<string, string>> = { billingReference: "billing reference" };

function fieldsOf(fields: readonly string[]): string[] {
  if (fields.length === 0) return [];
  const names = fields.map((field) => FIELD_NAMES[field] ?? field);
  return [`the ${new Intl.ListFormat("en").format(names)} of `];
}
