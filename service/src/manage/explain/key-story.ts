import { type Static, Type } from "typebox";
import { HoldView } from "../../edge/hold-fields.ts";
import type { ConsumptionItem, HoldDuration } from "../../entitlement/consumption.ts";
import { assertNever } from "../../primitives/assert.ts";
import type { CustomerNumber, MemberId } from "../../primitives/brand.ts";
import { publicId } from "../../primitives/public-id.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { Charge } from "../../store/cell/charges.ts";
import type { Denial } from "../../store/cell/denials.ts";
import type { StoredEvent } from "../../store/cell/event-list.ts";
import { KEYED_ENDPOINTS } from "../../store/cell/keyed-requests.ts";
import { deniedItemsFields, describeDeniedItems } from "../customers/denied-items.ts";
import { nullable, shownCustomerName, shownMember, shownOverrides, timeField } from "../fields.ts";
import { LoggedRequest, reasonField } from "../requests/describe-request.ts";

const metadataField = nullable(Type.Record(Type.String(), Type.Unknown()));
const quantityField = Type.Integer({ examples: [1] });

export const ChargeDetails = Type.Object({
  consumeId: Type.String({ examples: ["con_06fd5n0r000000000a00000001"] }),
  recordedAt: timeField,
  item: nullable(
    Type.Integer({
      description: "The charge's index in the request's `items`. Null if it is the request's only charge.",
      examples: [0],
    }),
  ),
  feature: Type.String({ examples: ["image.generate"] }),
  quantity: quantityField,
  credits: Type.Integer({ description: "Credits taken from the balance.", examples: [10] }),
  overageCredits: Type.Integer({ description: "Credits charged as overage.", examples: [0] }),
  balanceAfter: Type.Integer({ examples: [90] }),
  overrides: shownOverrides,
  memberId: shownMember,
  metadata: metadataField,
  reversedQuantity: Type.Integer({ description: "Quantity reversed so far.", examples: [0] }),
  reversedCredits: Type.Integer({ description: "Credits returned so far.", examples: [0] }),
  reversedOverageCredits: Type.Integer({ description: "Overage reversed so far.", examples: [0] }),
});

const DenialDetails = Type.Object({
  denialId: Type.String({
    description: "Use this ID to read an explanation of the denial.",
    examples: ["den_01k9zq6n2wf3rvd0m6zj8b6c1t"],
  }),
  recordedAt: timeField,
  feature: Type.String({ examples: ["image.generate"] }),
  quantity: quantityField,
  reason: reasonField,
  ...deniedItemsFields,
  creditsRequired: Type.Integer({ examples: [50] }),
  balance: Type.Integer({ examples: [12] }),
  overrides: shownOverrides,
  memberId: shownMember,
  metadata: metadataField,
});

const EventDetails = Type.Object({
  eventId: Type.String({ examples: ["evt_01k9zq6n2wf3rvd0m6zj8b6c1t"] }),
  recordedAt: timeField,
  occurredAt: timeField,
  event: Type.String({ examples: ["tokens.generated"] }),
  quantity: quantityField,
  memberId: shownMember,
  metadata: metadataField,
});

export const KeyStory = Type.Object({
  idempotencyKey: Type.String({ examples: ["job-7f3a-charge"] }),
  state: Type.Enum(["kept", "ended", "not_kept", "other_environment"], {
    description:
      "`kept`: the response is stored. `ended`: the key expired and can be used again. `not_kept`: the key was used, but no response " +
      "is stored, so the key can be used again. `other_environment`: the key was used in the project's other environment and cannot be used here.",
  }),
  endpoint: nullable(Type.Enum([...KEYED_ENDPOINTS])),
  recordedAt: nullable(timeField),
  customerId: nullable(Type.String({ examples: ["customer_42"] })),
  customerName: shownCustomerName,
  answer: nullable(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        "The stored response, with status 200. Until the key expires, the same request returns it again.",
    }),
  ),
  charge: nullable(ChargeDetails),
  charges: Type.Array(ChargeDetails, {
    description: "All charges of the request, including `charge`.",
  }),
  denial: nullable(DenialDetails),
  hold: nullable(HoldView),
  event: nullable(EventDetails),
  uses: Type.Array(
    Type.Object({
      ...LoggedRequest.properties,
      refused: nullable(
        Type.Object({
          differs: Type.Array(Type.String({ examples: ["quantity"] }), {
            description: "Fields that differ from the original request.",
          }),
          quantity: quantityField,
          timestamp: nullable(timeField),
        }),
      ),
    }),
    {
      description:
        "The newest uses of this key in this environment's request log, at most 50: the first use, replays and rejected reuses.",
    },
  ),
});

export type KeyStory = Static<typeof KeyStory>;

/** The stored record that the response for a key describes. */
export type Subject =
  /** All charges of the request; `row` is the first. */
  | { readonly kind: "charge"; readonly row: Charge; readonly rows: readonly Charge[] }
  | { readonly kind: "denial"; readonly row: Denial }
  | { readonly kind: "event"; readonly row: StoredEvent }
  | { readonly kind: "hold"; readonly row: OpenedHold; readonly view: HoldView };

/** The fields of the request that opened a hold. */
export type OpenedHold = {
  readonly customerNumber: CustomerNumber;
  readonly items: readonly ConsumptionItem[];
  readonly duration: HoldDuration;
  readonly memberId: MemberId | null;
  readonly metadata: string | null;
};

export function describeSubject(
  subject: Subject | null,
): Pick<KeyStory, "charge" | "charges" | "denial" | "hold" | "event"> {
  const nothing = { charge: null, charges: [], denial: null, hold: null, event: null };
  if (subject === null) return nothing;
  switch (subject.kind) {
    case "charge":
      return { ...nothing, charge: describeCharge(subject.row), charges: subject.rows.map(describeCharge) };
    case "denial":
      return { ...nothing, denial: describeDenial(subject.row) };
    case "hold":
      return { ...nothing, hold: subject.view };
    case "event":
      return { ...nothing, event: describeEvent(subject.row) };
    default:
      return assertNever(subject);
  }
}

export function describeCharge(charge: Charge): Static<typeof ChargeDetails> {
  return {
    consumeId: publicId("con", charge.id),
    recordedAt: formatTimestamp(charge.recordedAt),
    item: charge.place?.index ?? null,
    feature: charge.feature,
    quantity: charge.quantity,
    credits: charge.credits,
    overageCredits: charge.overageCredits,
    balanceAfter: charge.balanceAfter,
    overrides: charge.overrides,
    memberId: charge.memberId,
    metadata: parseMetadata(charge.metadata),
    reversedQuantity: charge.reversedQuantity,
    reversedCredits: charge.reversedCredits,
    reversedOverageCredits: charge.reversedOverageCredits,
  };
}

function describeDenial(denial: Denial): Static<typeof DenialDetails> {
  return {
    denialId: publicId("den", denial.id),
    recordedAt: formatTimestamp(denial.recordedAt),
    feature: denial.feature,
    quantity: denial.quantity,
    reason: denial.reason,
    ...describeDeniedItems(denial),
    creditsRequired: denial.creditsRequired,
    balance: denial.balance,
    overrides: denial.overrides,
    memberId: denial.memberId,
    metadata: parseMetadata(denial.metadata),
  };
}

function describeEvent(event: StoredEvent): Static<typeof EventDetails> {
  return {
    eventId: publicId("evt", event.id),
    recordedAt: formatTimestamp(event.recordedAt),
    occurredAt: formatTimestamp(event.occurredAt),
    event: event.event,
    quantity: event.quantity,
    memberId: event.memberId,
    metadata: parseMetadata(event.metadata),
  };
}

export function parseMetadata(text: string | null): Record<string, unknown> | null {
  return text === null ? null : JSON.parse(text);
}
