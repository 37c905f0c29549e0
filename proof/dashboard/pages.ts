import type { Caller } from "../harness/caller.ts";

/** A page in the dashboard and its route. */
export type DashboardPage = {
  /** Also used as the name of its screenshot. */
  readonly name: string;
  readonly route: string;
  /** Selects an element other than the heading that is present once the page can be used. */
  readonly row: string;
  /** Appended to the address, for pages that need a token or search parameters. */
  readonly suffix?: string;
  /** Another subject for `$customerId`, if it exists: a customer with holds or notices. */
  readonly customer?: "holderId" | "noticedId";
  /** Selects an element with which the page can be used while the rest is loading. Default: the page can be used once everything is shown. */
  readonly usable?: string;
};

const HERE = "/projects/$projectId/$environment";
const LINE = "main table tbody tr";
const FIELD = "main form input:enabled";

/** Pages without login. */
export const AUTH_PAGES: readonly DashboardPage[] = [
  { name: "log-in", route: "/log-in", row: FIELD },
  { name: "setup", route: "/setup", row: "main p" },
  { name: "join", route: "/join", row: FIELD, suffix: "#pur_link_none" },
  { name: "sign-in", route: "/sign-in", row: "main button", suffix: "#pur_link_none" },
];

/** Pages with login. `dashboard/test/pages.test.ts` fails if a page is missing here. */
export const PAGES: readonly DashboardPage[] = [
  { name: "home", route: `${HERE}/`, row: LINE },
  { name: "running-out", route: `${HERE}/running-out`, row: "main section" },
  { name: "customers", route: `${HERE}/customers`, row: LINE },
  { name: "customer", route: `${HERE}/customers/$customerId/`, row: "main dl dd" },
  { name: "customer-ledger", route: `${HERE}/customers/$customerId/ledger`, row: LINE },
  { name: "customer-grants", route: `${HERE}/customers/$customerId/grants`, row: LINE },
  {
    name: "customer-holds",
    route: `${HERE}/customers/$customerId/holds`,
    row: "main section",
    customer: "holderId",
  },
  { name: "customer-requests", route: `${HERE}/customers/$customerId/requests`, row: LINE },
  {
    name: "customer-notices",
    route: `${HERE}/customers/$customerId/notices`,
    row: "main section",
    customer: "noticedId",
  },
  { name: "customer-plans", route: `${HERE}/customers/$customerId/plans`, row: LINE },
  { name: "customer-usage", route: `${HERE}/customers/$customerId/usage`, row: LINE },
  { name: "plans", route: `${HERE}/plans`, row: "main a[href*='/plans/']" },
  { name: "plan", route: `${HERE}/plans/$key`, row: "main section li, main section dl" },
  { name: "plan-edit", route: `${HERE}/plans/$key/edit`, row: "main form input" },
  { name: "plan-publish", route: `${HERE}/plans/$key/publish`, row: "main section, main a" },
  { name: "promote", route: `${HERE}/promote`, row: "main section" },
  { name: "catalog-file", route: `${HERE}/catalog-file`, row: "main section" },
  { name: "features", route: `${HERE}/features`, row: LINE },
  { name: "event-keys", route: `${HERE}/features/event-keys`, row: "main section, main table" },
  { name: "pools", route: `${HERE}/features/pools`, row: "main section, main table" },
  { name: "usage", route: `${HERE}/usage`, row: LINE },
  { name: "events", route: `${HERE}/usage/events`, row: LINE },
  // A statement reads every entry since the start of its month. Meanwhile, another month can be chosen.
  {
    name: "month-end",
    route: `${HERE}/usage/month-end`,
    row: LINE,
    suffix: `?month=${new Date().toISOString().slice(0, 7)}`,
    usable: "main select",
  },
  { name: "exports", route: `${HERE}/usage/exports`, row: "main form" },
  { name: "requests", route: `${HERE}/requests`, row: LINE },
  { name: "key", route: `${HERE}/keys/$idempotencyKey`, row: "main section" },
  { name: "key-why", route: `${HERE}/keys/$idempotencyKey/why`, row: "main section" },
  { name: "denial", route: `${HERE}/denials/$denialId`, row: "main section" },
  { name: "api-keys", route: `${HERE}/api-keys`, row: LINE },
  { name: "webhooks", route: `${HERE}/webhooks`, row: LINE },
  { name: "webhook", route: `${HERE}/webhooks/$webhookId`, row: LINE },
  { name: "first-event", route: `${HERE}/first-event`, row: "main section" },
  { name: "welcome", route: "/welcome", row: "main form, main section, main a" },
  { name: "members", route: "/workspace/members", row: LINE },
  { name: "tokens", route: "/workspace/tokens", row: LINE },
  { name: "audit", route: "/workspace/audit", row: LINE },
  { name: "settings", route: "/workspace/settings", row: "main form, main dl" },
  { name: "settings-projects", route: "/workspace/settings/projects", row: LINE },
  { name: "settings-single-sign-on", route: "/workspace/settings/single-sign-on", row: "main section" },
  { name: "settings-health", route: "/workspace/settings/health", row: "main dl dd" },
  { name: "settings-profile", route: "/workspace/settings/profile", row: LINE },
];

/** Addresses that redirect to one of the pages. */
export const REDIRECTS = ["/"] as const;

/** Values for `$customerId` and the other parameters. */
export type Subjects = Readonly<Record<string, string>>;

/** Null if the value of a parameter is missing. */
export function addressOf(
  { route, suffix = "", customer }: DashboardPage,
  subjects: Subjects,
): string | null {
  let isComplete = true;
  const path = route.replace(/\$(\w+)/g, (_, name: string) => {
    const other = name === "customerId" && customer !== undefined ? subjects[customer] : undefined;
    const value = other ?? subjects[name];
    if (value === undefined) isComplete = false;
    return encodeURIComponent(value ?? "");
  });
  return isComplete ? `${path}${suffix}` : null;
}

type Where = { readonly projectId: string; readonly environment: "test" | "live" };

type Line = Readonly<Record<string, unknown>>;

/**
 * Finds a customer with a denial, the denied request's key, customers with holds and notices, a plan and a webhook. Omits parameters
 * without a value.
 */
export async function findSubjects(caller: Caller, { projectId, environment }: Where): Promise<Subjects> {
  const list = async (path: string): Promise<Line[]> => (await caller.get<{ items: Line[] }>(path)).items;
  const [plan] = await list("plans?archived=false");
  const { customerId, denials } = await findDenied(list);
  const holding = (await list("requests?endpoint=holds&limit=1"))[0];
  const [webhook] = await list("webhooks?limit=1");
  const [notice] = await list("notices?limit=1");
  const keyed = denials.find(({ idempotencyKey }) => idempotencyKey !== null);
  const found = {
    customerId,
    holderId: text(holding?.["customerId"]),
    noticedId: text(notice?.["customerId"]),
    webhookId: text(webhook?.["id"]),
    key: text(plan?.["key"]),
    denialId: text(denials[0]?.["denialId"]),
    idempotencyKey: text(keyed?.["idempotencyKey"]),
  };
  const present = Object.entries(found).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  return { projectId, environment, ...Object.fromEntries(present) };
}

/** Finds a customer with a recent denial, otherwise a customer with any denial, otherwise any customer. */
async function findDenied(
  list: (path: string) => Promise<Line[]>,
): Promise<{ customerId: string | undefined; denials: Line[] }> {
  const recent = (await list("requests?status=200&limit=200")).filter(({ reason }) => reason !== null);
  const customers = await list("customers?limit=200");
  const ids = [...recent, ...customers].flatMap(({ customerId }) => text(customerId) ?? []);
  for (const customerId of ids) {
    const denials = await list(`customers/${encodeURIComponent(customerId)}/denials`);
    if (denials.length > 0) return { customerId, denials };
  }
  return { customerId: ids[0], denials: [] };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
