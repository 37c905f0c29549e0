import { type TString, Type } from "typebox";
import { VISIBLE_ASCII } from "./field-errors.ts";

// Fields shared by runtime requests. Each schema validates requests and describes them in the OpenAPI document.

export const customerIdField = (note: string): TString =>
  Type.String({
    minLength: 1,
    maxLength: 255,
    description: `Your own stable ID for the customer. ${note}`,
    examples: ["customer_42"],
  });

export const memberIdField = (note: string): TString =>
  Type.String({
    minLength: 1,
    maxLength: 255,
    description: `Your own stable ID for the customer's user, team or API key that caused the request. ${note}`,
    examples: ["user_7"],
  });

export const featureField = Type.String({
  minLength: 1,
  maxLength: 120,
  description: "The key of a feature in your catalog.",
  examples: ["image.generate"],
});

export const QUANTITY_MAX = 1_000_000;

export const quantityField = Type.Integer({
  minimum: 1,
  maximum: QUANTITY_MAX,
  description: "Number of units. Default: 1.",
  examples: [1],
});

export const metadataField = Type.Object(
  {},
  {
    additionalProperties: true,
    description: "Any JSON object within the workspace's limits. An empty object counts as absent.",
    examples: [{ model: "small" }],
  },
);

export const idempotencyKeyField = (note: string): TString =>
  Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: VISIBLE_ASCII,
    description: `${note} Visible ASCII only.`,
    examples: ["job-7f3a-charge"],
  });

export const noteField = Type.String({
  minLength: 1,
  maxLength: 1000,
  description: "A note shown in the dashboard.",
  examples: ["For the outage on 3 November"],
});
