import { randomUUID } from "node:crypto";
import type { Shop } from "../manage/shop.ts";

const FEATURE = "feature.0001";

/** A product's backend and its operators, at one process of the service. */
export class Caller {
  readonly #url: string;
  readonly #shop: Shop;

  constructor(url: string, shop: Shop) {
    this.#url = url;
    this.#shop = shop;
  }

  async time(work: () => Promise<unknown>): Promise<number> {
    const startMs = performance.now();
    await work();
    return performance.now() - startMs;
  }

  /** Returns what was charged. */
  async consume(customerId: string): Promise<number> {
    const body = { customerId, feature: FEATURE, idempotencyKey: randomUUID() };
    const answer = await this.#send("POST", "/v1/consume", this.#shop.apiKey, body);
    const { allowed, creditsCharged } = JSON.parse(answer);
    if (allowed !== true) throw new Error(`a consume was denied: ${answer}`);
    return creditsCharged;
  }

  assign(customerId: string, plan: string): Promise<unknown> {
    return this.#manage("POST", `customers/${customerId}/plan`, { plan });
  }

  topUp(customerId: string, credits: number): Promise<unknown> {
    const body = { kind: "purchase", credits, reference: randomUUID() };
    return this.#manage("POST", `customers/${customerId}/credits`, body);
  }

  priceFeature(credits: number): Promise<unknown> {
    const body = { name: "Feature 1", unit: "call", cost: { credits } };
    return this.#manage("PUT", `features/${FEATURE}`, body, { "if-match": "*" });
  }

  /** With every feature in it, for everyone now. */
  async publish(plan: string, features: number): Promise<void> {
    const limit = { quantity: 100_000, period: "month" };
    await this.#manage(
      "PUT",
      `plans/${plan}/draft`,
      {
        name: "Plan 1",
        allowances: [{ credits: 1_000_000, period: "month" }],
        features: Array.from({ length: features }, (_, index) => ({
          feature: `feature.${String(index + 1).padStart(4, "0")}`,
          limit,
        })),
      },
      { "if-match": "*" },
    );
    await this.#manage("POST", `plans/${plan}/publish`, { reach: "now" });
  }

  async exportCatalog(environment: "test" | "live"): Promise<{ text: string; ms: number }> {
    const startMs = performance.now();
    const text = await this.#manage("GET", `${this.#of(environment)}/catalog`);
    return { text, ms: performance.now() - startMs };
  }

  async applyCatalog(environment: "test" | "live", document: string): Promise<void> {
    await this.#manage(
      "POST",
      `${this.#of(environment)}/catalog/apply`,
      `{"catalog":${document},"reach":"new_assignments"}`,
    );
  }

  #of(environment: string): string {
    return this.#shop.here.replace(/live$/, environment);
  }

  #manage(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<string> {
    const whole = path.startsWith("/") ? path : `${this.#shop.here}/${path}`;
    return this.#send(method, whole, this.#shop.token, body, headers);
  }

  async #send(
    method: string,
    path: string,
    secret: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<string> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${secret}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 500)}`);
    return text;
  }
}
