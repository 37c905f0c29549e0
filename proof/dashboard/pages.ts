/** A page of the dashboard, as its router knows it. */
export type DashboardPage = {
  /** Also its picture's name. */
  readonly name: string;
  readonly route: string;
  /** There once the page can be used, beside its heading: the first line of what it is about. */
  readonly row: string;
  /** Behind the address; for pages that are otherwise about nothing. */
  readonly suffix?: string;
};

const HERE = "/projects/$projectId/$environment";
const LINE = "main table tbody tr";
const FIELD = "main form input:enabled";

/** Before the log-in. */
export const AUTH_PAGES: readonly DashboardPage[] = [
  { name: "log-in", route: "/log-in", row: FIELD },
  { name: "setup", route: "/setup", row: "main p" },
  { name: "join", route: "/join", row: FIELD, suffix: "#pur_link_none" },
  { name: "sign-in", route: "/sign-in", row: "main button", suffix: "#pur_link_none" },
];

/** Behind it. A page that is missing here fails `dashboard/test/pages.test.ts`. */
export const PAGES: readonly DashboardPage[] = [
  { name: "home", route: `${HERE}/`, row: LINE },
  { name: "customers", route: `${HERE}/customers`, row: LINE },
  { name: "customer", route: `${HERE}/customers/$customerId/`, row: "main dl dd" },
  { name: "customer-ledger", route: `${HERE}/customers/$customerId/ledger`, row: LINE },
  { name: "customer-grants", route: `${HERE}/customers/$customerId/grants`, row: LINE },
  { name: "customer-requests", route: `${HERE}/customers/$customerId/requests`, row: LINE },
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
  { name: "month-end", route: `${HERE}/usage/month-end`, row: "main section" },
  { name: "exports", route: `${HERE}/usage/exports`, row: "main form" },
  { name: "requests", route: `${HERE}/requests`, row: LINE },
  { name: "key", route: `${HERE}/keys/$idempotencyKey`, row: "main section" },
  { name: "key-why", route: `${HERE}/keys/$idempotencyKey/why`, row: "main section" },
  { name: "denial", route: `${HERE}/denials/$denialId`, row: "main section" },
  { name: "api-keys", route: `${HERE}/api-keys`, row: LINE },
  { name: "first-event", route: `${HERE}/first-event`, row: "main section" },
  { name: "welcome", route: "/welcome", row: "main form, main section, main a" },
  { name: "members", route: "/workspace/members", row: LINE },
  { name: "tokens", route: "/workspace/tokens", row: LINE },
  { name: "audit", route: "/workspace/audit", row: LINE },
  { name: "settings", route: "/workspace/settings", row: LINE },
];

/** Addresses that only lead to one of the others. */
export const REDIRECTS = ["/"] as const;

/** What stands in the place of `$customerId` and so on. */
export type Subjects = Readonly<Record<string, string>>;

/** Null: it is about something that is not there. */
export function addressOf({ route, suffix = "" }: DashboardPage, subjects: Subjects): string | null {
  let isWhole = true;
  const path = route.replace(/\$(\w+)/g, (_, name: string) => {
    const value = subjects[name];
    if (value === undefined) isWhole = false;
    return encodeURIComponent(value ?? "");
  });
  return isWhole ? `${path}${suffix}` : null;
}
