import { type Static, Type } from "typebox";
import {
  customerIdField,
  featureField,
  idempotencyKeyField,
  metadataField,
  quantityField,
} from "../../edge/request-fields.ts";
import { verdictFields } from "../consume/schema.ts";

/** Takes consume's other fields too, and ignores them, so that one object serves both. */
export const CheckBody = Type.Object(
  {
    customerId: customerIdField("An unknown one is judged under the default plan, and not created."),
    feature: featureField,
    quantity: Type.Optional(quantityField),
    idempotencyKey: Type.Optional(
      idempotencyKeyField("Taken, so that one object serves check and consume, and ignored."),
    ),
    metadata: Type.Optional(metadataField),
  },
  {
    additionalProperties: false,
    examples: [{ customerId: "customer_42", feature: "image.generate", quantity: 1 }],
  },
);

export type CheckBody = Static<typeof CheckBody>;

export const CheckAnswer = Type.Object(verdictFields, { additionalProperties: false });
