import { randomUUID } from "node:crypto";
import type { Caller, Reply } from "../harness/caller.ts";

const FEATURE = "feature.0001";
const ANY_VERSION = { "if-match": "*" };

/** Returns what was charged. */
export async function consume(caller: Caller, customerId: string): Promise<number> {
  const answer = await caller.consume(customerId, { feature: FEATURE });
  if (!answer.allowed) throw new Error(`a consume was denied: ${JSON.stringify(answer)}`);
  return answer.creditsCharged;
}

export function assign(caller: Caller, customerId: string, plan: string): Promise<Reply> {
  return caller.call("POST", `customers/${customerId}/plan`, { body: { plan } });
}

export function topUp(caller: Caller, customerId: string, credits: number): Promise<Reply> {
  const body = { kind: "purchase", credits, reference: randomUUID() };
  return caller.call("POST", `customers/${customerId}/credits`, { body });
}

export function priceFeature(caller: Caller, credits: number): Promise<Reply> {
  const body = { name: "Feature 1", unit: "call", cost: { credits } };
  return caller.call("PUT", `features/${FEATURE}`, { body, headers: ANY_VERSION });
}

/** With every feature in it, for everyone now. Returns how long it took. */
export async function publish(caller: Caller, plan: string, features: number): Promise<number> {
  const limit = { quantity: 100_000, period: "month" };
  const body = {
    name: "Plan 1",
    allowances: [{ credits: 1_000_000, period: "month" }],
    features: Array.from({ length: features }, (_, index) => ({
      feature: `feature.${String(index + 1).padStart(4, "0")}`,
      limit,
    })),
  };
  const saved = await caller.call("PUT", `plans/${plan}/draft`, { body, headers: ANY_VERSION });
  const published = await caller.call("POST", `plans/${plan}/publish`, { body: { reach: "now" } });
  return saved.ms + published.ms;
}

export function exportCatalog(caller: Caller, environment: "test" | "live"): Promise<Reply> {
  return caller.call("GET", catalogOf(environment));
}

export function applyCatalog(caller: Caller, environment: "test" | "live", document: string): Promise<Reply> {
  const body = `{"catalog":${document},"reach":"new_assignments"}`;
  return caller.call("POST", `${catalogOf(environment)}/apply`, { body });
}

function catalogOf(environment: string): string {
  return `/manage/v1/projects/1/${environment}/catalog`;
}
