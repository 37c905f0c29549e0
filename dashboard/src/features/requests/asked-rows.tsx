import type { ReactNode } from "react";
import { isOfCustomer, type RequestItem } from "../../format/denial-sentences.ts";
import { formatCount } from "../../format/numbers.ts";
import { FeatureName } from "../../frame/links.tsx";
import { Badge } from "../../ui/badge.tsx";

type Asked = RequestItem & {
  readonly reason: string | null;
  /** The items of the request. Null for a request without items. */
  readonly items: readonly RequestItem[] | null;
};

/** The features and quantities of a denied request, as rows of `Details`. */
export function askedRows({ feature, quantity, reason, items }: Asked): { name: string; value: ReactNode }[] {
  if (items === null) {
    return [
      { name: "Feature", value: <FeatureName feature={feature} hasKey /> },
      { name: "Quantity", value: formatCount(quantity) },
    ];
  }
  const denied = isOfCustomer(reason) ? null : feature;
  return [{ name: "Items", value: <Items items={items} denied={denied} /> }];
}

function Items({ items, denied }: { items: readonly RequestItem[]; denied: string | null }) {
  return (
    <ul className="flex flex-col gap-1">
      {items.map(({ feature, quantity }) => (
        <li key={feature} className="flex flex-wrap items-center gap-x-2">
          <span>
            <FeatureName feature={feature} /> × {formatCount(quantity)}
          </span>
          {feature === denied && <Badge tone="bad">Denied</Badge>}
        </li>
      ))}
    </ul>
  );
}
