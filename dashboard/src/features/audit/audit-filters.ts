import { choice, type SearchOf, searchOf, text, whole } from "../../format/search.ts";
import { rangeName, rangeOf } from "../../format/usage-range.ts";
import { isBulkAction } from "./entry.ts";

const dayText = text(10, /^\d{4}-\d\d-\d\d$/);

function readDay(value: unknown): string | undefined {
  const day = dayText(value);
  return Number.isNaN(Date.parse(`${day}T00:00:00Z`)) ? undefined : day;
}

const FILTERS = {
  actor: text(60, /^((member|token|api_key):[1-9][0-9]{0,8}|command|system)$/),
  action: text(120),
  customerId: text(),
  range: rangeName,
  from: readDay,
  to: readDay,
  projectId: whole(1),
  environment: choice(["test", "live"]),
  each: choice([true]),
};

/** Filters in the URL. Named ranges and days are in UTC. `to` is inclusive. */
export type AuditFilters = SearchOf<typeof FILTERS>;

const readFilters = searchOf(FILTERS);

export function readAuditFilters(search: Record<string, unknown>): AuditFilters {
  const { projectId, environment, range, ...filters } = readFilters(search);
  const isCustom = filters.from !== undefined || filters.to !== undefined;
  return {
    ...filters,
    ...(range === undefined || isCustom ? {} : { range }),
    ...(projectId === undefined || environment === undefined ? {} : { projectId, environment }),
  };
}

const DAY_MS = 86_400_000;

/**
 * Whether to list a bulk change as one row. That row has its own action and no customer, so a filter by action or customer would hide it.
 */
export function canCollapse({ customerId, action }: AuditFilters): boolean {
  return customerId === undefined && action === undefined;
}

export function toAuditQuery(filters: AuditFilters) {
  const { projectId, environment, range, from, to, each, ...plain } = filters;
  const named = range === undefined ? null : rangeOf({ range }, Date.now(), "utc");
  return {
    ...plain,
    // Only the row of a bulk change has a bulk action. Skipping the customers' rows makes the search faster.
    ...((canCollapse(filters) && each !== true) || isBulkAction(plain.action ?? "")
      ? { collapseBulk: "true" as const }
      : {}),
    ...(projectId === undefined || environment === undefined
      ? {}
      : { projectId: String(projectId), environment }),
    ...(named === null ? {} : { from: new Date(named.from).toISOString() }),
    ...(named === null || named.to === null ? {} : { to: new Date(named.to).toISOString() }),
    ...(from === undefined ? {} : { from: `${from}T00:00:00.000Z` }),
    ...(to === undefined ? {} : { to: new Date(Date.parse(`${to}T00:00:00Z`) + DAY_MS).toISOString() }),
  };
}

/** Action prefixes and their names. */
export const ACTIONS = [
  { value: "credits.added", label: "Credits added" },
  { value: "credits.added_in_bulk", label: "Credits added in bulk" },
  { value: "credits.moved", label: "Credits moved" },
  { value: "grant.revoked", label: "Credits revoked" },
  { value: "consume.reversed", label: "Charges reversed" },
  { value: "hold.released", label: "Holds released" },
  { value: "plan.assigned", label: "Plans assigned" },
  { value: "plan.assigned_in_bulk", label: "Plans assigned in bulk" },
  { value: "plan.ended", label: "Plans ended" },
  { value: "plan.scheduled", label: "Plan changes scheduled" },
  { value: "plan.unscheduled", label: "Scheduled plan changes canceled" },
  { value: "overrides.", label: "Overrides" },
  { value: "alerts.", label: "Alerts and top-ups" },
  { value: "customer", label: "Customers" },
  { value: "customers.blocked_in_bulk", label: "Customers blocked in bulk" },
  { value: "customers.unblocked_in_bulk", label: "Customers unblocked in bulk" },
  { value: "change.undone", label: "Bulk changes undone" },
  { value: "plan.published", label: "Plans published" },
  { value: "plan", label: "All plan actions" },
  { value: "default_plan.", label: "Default plans" },
  { value: "feature.", label: "Features" },
  { value: "pool.", label: "Pools" },
  { value: "event_key.", label: "Event keys" },
  { value: "request.", label: "Test requests" },
  { value: "api_key.", label: "API keys" },
  { value: "webhook.", label: "Webhooks" },
  { value: "token.", label: "Management tokens" },
  { value: "member.sign", label: "Logins and logouts" },
  { value: "member.", label: "All member actions" },
  { value: "project.", label: "Projects" },
  { value: "workspace.", label: "Workspace" },
];
