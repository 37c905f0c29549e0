import { type Static, Type } from "typebox";
import { KEYED_ENDPOINTS } from "../../store/cell/keyed-requests.ts";
import { movedField } from "../customers/list-grants.ts";
import { nullable, shownCustomerName, timeField } from "../fields.ts";

const whereFields = {
  projectId: Type.String({ examples: ["1"] }),
  projectName: Type.String({ examples: ["My product"] }),
  environment: Type.Enum(["test", "live"]),
};

const customerIdField = nullable(
  Type.String({ description: "Null if the customer was erased.", examples: ["customer_42"] }),
);

const customerFields = { customerId: customerIdField, customerName: shownCustomerName };

const featureFields = {
  feature: Type.String({ examples: ["image.generate"] }),
  featureName: Type.String({ examples: ["Image generation"] }),
};

const recordFields = {
  ...whereFields,
  ...customerFields,
  quantity: Type.Integer({ examples: [1] }),
};

export const CatalogItem = Type.Object({
  ...whereFields,
  key: Type.String({ examples: ["pro"] }),
  name: Type.String({ examples: ["Pro"] }),
});

export const Found = Type.Object({
  customers: Type.Array(
    Type.Object({
      ...whereFields,
      customerId: Type.String({ examples: ["customer_42"] }),
      name: nullable(Type.String({ examples: ["Acme GmbH"] })),
      email: nullable(Type.String({ examples: ["billing@acme.example"] })),
      billingReference: nullable(Type.String({ examples: ["cus_NffrFeUfNV2Hib"] })),
    }),
    {
      description:
        "Customers whose ID, name, email or billing reference contains the search text (case-insensitive), best matches first. Text " +
        "of one or two characters matches only the beginning.",
    },
  ),
  grants: Type.Array(
    Type.Object({
      ...whereFields,
      recordedAt: timeField,
      ...customerFields,
      grant: Type.Integer({ description: "Grant number, unique per customer.", examples: [3] }),
      kind: Type.Enum(["allowance", "purchase", "manual", "promotion"]),
      credits: Type.Integer({ examples: [500] }),
      reference: Type.String({ examples: ["pi_3MtwBwLkdIwHu7ix"] }),
      movedTo: movedField("The customer and grant that the remaining credits were moved to."),
    }),
    { description: "Grants whose reference equals the search text." },
  ),
  keys: Type.Array(
    Type.Object({
      ...whereFields,
      recordedAt: timeField,
      idempotencyKey: Type.String({ examples: ["job-7f3a-charge"] }),
      endpoint: Type.Enum([...KEYED_ENDPOINTS]),
    }),
    { description: "Idempotency keys that equal the search text." },
  ),
  charges: Type.Array(
    Type.Object({
      ...recordFields,
      recordedAt: timeField,
      consumeId: Type.String({ examples: ["con_06fd5n0r000000000a00000001"] }),
      ...featureFields,
    }),
  ),
  denials: Type.Array(
    Type.Object({
      ...recordFields,
      recordedAt: timeField,
      denialId: Type.String({ examples: ["den_01k9zq6n2wf3rvd0m6zj8b6c1t"] }),
      ...featureFields,
      reason: nullable(Type.String({ examples: ["insufficient_credits"] })),
    }),
  ),
  holds: Type.Array(
    Type.Object({
      ...whereFields,
      ...customerFields,
      openedAt: timeField,
      holdId: Type.String({ examples: ["hld_06fd5n0r000000000a00000001"] }),
    }),
  ),
  events: Type.Array(
    Type.Object({
      ...recordFields,
      occurredAt: timeField,
      eventId: Type.String({ examples: ["evt_01k9zq6n2wf3rvd0m6zj8b6c1t"] }),
      event: Type.String({ examples: ["tokens.generated"] }),
    }),
  ),
  plans: Type.Array(CatalogItem, {
    description: "Plans whose key starts with the search text, or whose name contains it.",
  }),
  features: Type.Array(CatalogItem, {
    description: "Features whose key starts with the search text, or whose name contains it.",
  }),
});

export type Found = Static<typeof Found>;
