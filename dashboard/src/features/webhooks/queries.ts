import { queryOptions } from "@tanstack/react-query";
import { type Item, type Scope, scopeOf } from "../../api/answer.ts";
import { pagesOf } from "../../api/lists.ts";
import { WEBHOOKS_PATH, webhooksQuery } from "../../api/webhook-list.ts";
import { choice, type SearchOf, searchOf } from "../../format/search.ts";

export { WEBHOOKS_PATH, webhooksQuery };

export type Webhook = Item<"listWebhooks">;
export type Delivery = Item<"listDeliveries">;

/** One webhook of the list, because the API has no call for one. Null if it is not found. */
export function webhookQuery(scope: Scope, id: string) {
  return queryOptions({
    ...webhooksQuery(scope),
    select: (webhooks) => webhooks.find((webhook) => webhook.id === id) ?? null,
  });
}

const FILTERS = { state: choice(["pending", "delivered", "failed"]) };

/** Filters of the deliveries in the URL. */
export type DeliveryFilters = SearchOf<typeof FILTERS>;
export const readDeliveryFilters = searchOf(FILTERS);

export function deliveriesQuery(scope: Scope, id: string, query: DeliveryFilters) {
  return pagesOf(`${WEBHOOKS_PATH}/{id}/deliveries`, { params: { path: { ...scopeOf(scope), id }, query } });
}
