import { type Static, Type } from "typebox";
import { parseItems } from "../../entitlement/consumption.ts";
import type { DeniedItems } from "../../store/cell/denials.ts";
import { nullable } from "../fields.ts";

/** Fields of a denial that are set only for requests with `items`. */
export const deniedItemsFields = {
  deniedItem: nullable(
    Type.Integer({
      description:
        "The index of the denied item, which `feature` and `quantity` describe. Null for a request without `items`.",
      examples: [0],
    }),
  ),
  items: nullable(
    Type.Array(
      Type.Object({
        feature: Type.String({ examples: ["image.generate"] }),
        quantity: Type.Integer({ examples: [3] }),
      }),
      { description: "All items of the request. Null for a request without `items`." },
    ),
  ),
};

type DeniedItemsAnswer = {
  [K in keyof typeof deniedItemsFields]: Static<(typeof deniedItemsFields)[K]>;
};

export function describeDeniedItems({
  request,
}: {
  readonly request: DeniedItems | null;
}): DeniedItemsAnswer {
  if (request === null) return { deniedItem: null, items: null };
  return { deniedItem: request.deniedItem, items: parseItems(request.items) };
}
