/** The IDs and keys of one request of each kind. */
export type Facts = {
  readonly customer: string;
  readonly feature: string;
  readonly chargeKey: string;
  readonly consumeId: string;
  readonly denialKey: string;
  readonly denialId: string;
  readonly eventKey: string;
  readonly event: string;
  readonly eventId: string;
};

export type Look = {
  /** Relative to the environment, unless it starts with a slash. */
  readonly path: string;
  /** Texts that the response contains if the facts are within the history window, and must not contain otherwise. */
  readonly says: readonly string[];
};

/** Where an operation shows history, or the reason why it shows none. */
export type HistoryLine = ((facts: Facts) => readonly Look[]) | string;

const NOW = "current state only";
const CATALOG = "the catalog";
const PEOPLE = "members and access";
const SUMS = "roll-ups within the window: manage/usage/window.test.ts";
const EFFECTS = "management actions, not usage";
const NOTICES = "notices within the window: manage/webhooks/notices.test.ts";

/** How each reading operation applies the history window. The test fails if an operation is missing. */
export const HISTORY_LINES: Readonly<Record<string, HistoryLine>> = {
  readSetup: PEOPLE,
  readSession: PEOPLE,
  listMembers: PEOPLE,
  listTokens: PEOPLE,
  listSessions: PEOPLE,
  listPasskeys: PEOPLE,
  readMemberAccess: PEOPLE,
  readSignOn: PEOPLE,
  startSignOn: PEOPLE,
  finishSignOn: PEOPLE,
  readOwnSignOn: PEOPLE,
  readSignOnSettings: PEOPLE,
  exportAudit: EFFECTS,
  listApiKeys: PEOPLE,
  readWorkspace: NOW,
  readHealth: NOW,
  listProjects: NOW,
  readProject: NOW,
  listAudit: EFFECTS,
  listEnvironmentAudit: EFFECTS,

  listPools: CATALOG,
  listFeatures: CATALOG,
  readFeature: CATALOG,
  listPlans: CATALOG,
  readPlan: CATALOG,
  diffPlan: CATALOG,
  exportCatalog: CATALOG,
  diffCatalog: CATALOG,
  diffPromotion: CATALOG,
  listWebhooks: NOW,
  listDeliveries: NOTICES,
  listNotices: NOTICES,
  listEventKeys: ({ event }) => [{ path: "event-keys", says: [event] }],

  listCustomers: NOW,
  readCustomer: NOW,
  readAlerts: NOW,
  listForecasts: "averages of roll-ups within the window: manage/customers/forecasts.test.ts",
  listRepeatedCharges: "charges within the window: manage/customers/repeated-charges.test.ts",
  previewCredits:
    "duplicates of the last ten minutes, which are in every window, and references: has its own test",
  previewCreditsInBulk: "whether a reference is already used, which is rejected regardless of the window",
  previewBulkAssignment: NOW,
  previewUndo: "management actions, and the credits left from them",
  previewReversal: "the current effect of a reversal, regardless of the window: has its own test",
  previewMove: "the current effect of a move: a grant with credits left is listed regardless of the window",
  proveWallet: "sums to the balance without entries before the window: has its own test",
  listPlanChanges: EFFECTS,
  listOverrides: EFFECTS,
  listGrants: "grants: those older than the window are listed only if credits remain: has its own test",
  listCustomerHolds: "holds: those older than the window are listed only if open: has its own test",
  listLedger: ({ customer, chargeKey, consumeId }) => [
    { path: `customers/${customer}/ledger`, says: [chargeKey, consumeId] },
    { path: `customers/${customer}/ledger?kind=consume`, says: [chargeKey, consumeId] },
    { path: `customers/${customer}/ledger?cursor=WzEwMDBd`, says: [chargeKey, consumeId] },
  ],
  listDenials: ({ customer, denialKey, denialId }) => [
    { path: `customers/${customer}/denials`, says: [denialKey, denialId] },
  ],
  listCustomerRequests: ({ customer, chargeKey, denialId }) => [
    { path: `customers/${customer}/requests`, says: [chargeKey, denialId] },
  ],

  listEvents: ({ customer, event, eventId }) => [
    { path: "events", says: [eventId] },
    { path: `events?event=${event}`, says: [eventId] },
    { path: `events?customerId=${customer}&from=2020-01-01T00:00:00Z`, says: [eventId] },
  ],
  listCustomerEvents: ({ customer, eventId }) => [{ path: `customers/${customer}/events`, says: [eventId] }],
  readEvent: ({ eventId }) => [{ path: `events/${eventId}`, says: [eventId] }],
  exportEvents: ({ event, eventId }) => [
    { path: "exports/events", says: [event, eventId] },
    { path: "exports/events?format=ndjson&from=2020-01-01T00:00:00Z", says: [event, eventId] },
  ],
  exportCharges: ({ chargeKey, consumeId }) => [
    { path: "exports/charges", says: [chargeKey, consumeId] },
    { path: "exports/charges?format=ndjson&from=2020-01-01T00:00:00Z", says: [chargeKey, consumeId] },
  ],
  exportLedger: ({ consumeId }) => [{ path: "exports/ledger?from=2020-01-01T00:00:00Z", says: [consumeId] }],
  exportGrants: "grants: has its own test",
  listOpeningBalances: NOW,
  readMonth: "roll-ups within the window: manage/months/months.test.ts",
  chartUsage: SUMS,
  totalUsage: SUMS,
  chartDecisions: SUMS,
  rankCustomers: SUMS,
  chartBalance: SUMS,
  listRequests: ({ chargeKey, denialKey, customer }) => [
    { path: "requests", says: [chargeKey, denialKey] },
    { path: `requests?customerId=${customer}`, says: [chargeKey, denialKey] },
    { path: "requests?since=2020-01-01T00:00:00Z", says: [chargeKey] },
  ],
  summarizeRequests: ({ event }) => [{ path: "requests/summary?hours=168", says: [event] }],
  readKey: ({ chargeKey, consumeId, denialKey, denialId, eventKey, eventId }) => [
    { path: `keys/${chargeKey}`, says: [consumeId] },
    { path: `keys/${denialKey}`, says: [denialId] },
    { path: `keys/${eventKey}`, says: [eventId] },
  ],
  explainDenial: ({ denialId, consumeId }) => [{ path: `denials/${denialId}`, says: [denialId, consumeId] }],
  search: (facts) => searches("/manage/v1/search", facts),
  searchEnvironment: (facts) => searches("search", facts),
};

/** Lookups by search. A response contains the search text only if something was found. */
function searches(path: string, { consumeId, denialId, eventId, ...keys }: Facts): Look[] {
  const found = [consumeId, denialId, eventId, keys.chargeKey, keys.denialKey, keys.eventKey];
  return found.map((q) => ({ path: `${path}?q=${q}`, says: [q] }));
}
