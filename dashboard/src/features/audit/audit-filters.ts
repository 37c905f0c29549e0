import type { Environment } from "../../api/answer.ts";

/** What the log is narrowed to; it stands in the address. Days are of UTC, and `to` is part of it. */
export type AuditFilters = {
  actor?: string;
  action?: string;
  customerId?: string;
  from?: string;
  to?: string;
  projectId?: number;
  environment?: Environment;
};

const ACTOR = /^((member|token):[1-9][0-9]{0,8}|command|system)$/;
const DAY = /^\d{4}-\d\d-\d\d$/;

export function readAuditFilters(search: Record<string, unknown>): AuditFilters {
  const text = (name: string): string => {
    const value = search[name];
    return typeof value === "string" || typeof value === "number" ? String(value) : "";
  };
  const [actor, action, customerId, from, to] = ["actor", "action", "customerId", "from", "to"].map(text);
  const projectId = Number(text("projectId"));
  const environment = search["environment"];
  return {
    ...(actor !== undefined && ACTOR.test(actor) ? { actor } : {}),
    ...(action ? { action: action.slice(0, 120) } : {}),
    ...(customerId ? { customerId: customerId.slice(0, 255) } : {}),
    ...(isDay(from) ? { from } : {}),
    ...(isDay(to) ? { to } : {}),
    ...(Number.isSafeInteger(projectId) && projectId > 0 && (environment === "test" || environment === "live")
      ? { projectId, environment }
      : {}),
  };
}

function isDay(text: string | undefined): text is string {
  return text !== undefined && DAY.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00Z`));
}

const DAY_MS = 86_400_000;

export function toAuditQuery({ projectId, environment, from, to, ...plain }: AuditFilters) {
  return {
    ...plain,
    ...(projectId === undefined || environment === undefined
      ? {}
      : { projectId: String(projectId), environment }),
    ...(from === undefined ? {} : { from: `${from}T00:00:00.000Z` }),
    ...(to === undefined ? {} : { to: new Date(Date.parse(`${to}T00:00:00Z`) + DAY_MS).toISOString() }),
  };
}

/** What begins with the left is called the right. */
export const ACTIONS = [
  { value: "credits.added", label: "Credits added" },
  { value: "grant.revoked", label: "Credits revoked" },
  { value: "consume.reversed", label: "Charges reversed" },
  { value: "plan.assigned", label: "Plans assigned" },
  { value: "plan.ended", label: "Plans ended" },
  { value: "customer", label: "Customers" },
  { value: "plan.published", label: "Plans published" },
  { value: "plan", label: "All about plans" },
  { value: "default_plan.", label: "Default plans" },
  { value: "feature.", label: "Features" },
  { value: "pool.", label: "Pools" },
  { value: "event_key.", label: "Event keys" },
  { value: "request.", label: "Test requests" },
  { value: "api_key.", label: "API keys" },
  { value: "token.", label: "Management tokens" },
  { value: "member.sign", label: "Log-ins and log-outs" },
  { value: "member.", label: "All about members" },
  { value: "project.", label: "Projects" },
  { value: "workspace.", label: "Workspace" },
];
