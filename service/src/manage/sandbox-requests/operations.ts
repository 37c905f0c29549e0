import { Type } from "typebox";
import {
  customerIdField,
  featureField,
  idempotencyKeyField,
  quantityField,
} from "../../edge/request-fields.ts";
import { invalidField } from "../fields.ts";
import {
  actorOf,
  type Call,
  ENVIRONMENT_PATH,
  environmentParams,
  type Operation,
  operation,
  scopeOf,
} from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { sendSandboxRequests } from "./send-sandbox-requests.ts";

const TIMES_MAX = 50;

const SandboxBody = Type.Object(
  {
    endpoint: Type.Enum(["check", "consume"], { description: "Which of the runtime's operations." }),
    customerId: customerIdField("What becomes of an unknown one is as the endpoint has it."),
    feature: featureField,
    quantity: Type.Optional(quantityField),
    idempotencyKey: idempotencyKeyField("All of them carry it. A check ignores it."),
    times: Type.Integer({
      minimum: 1,
      maximum: TIMES_MAX,
      description: "How often it is sent, all at once.",
      examples: [32],
    }),
  },
  { additionalProperties: false },
);

const SandboxAnswerSchema = Type.Object({
  answers: Type.Array(
    Type.Object({
      count: Type.Integer({ description: "How many of the requests were answered so.", examples: [31] }),
      status: Type.Integer({ examples: [200] }),
      isReplay: Type.Boolean({ description: "It was answered before: the same answer came again." }),
      body: Type.Record(Type.String(), Type.Unknown(), {
        description: "What a backend would have read: the endpoint's answer, or a problem with its `code`.",
      }),
    }),
    {
      description:
        "Those that are the same in everything stand together, in the order in which they first came.",
    },
  ),
  charged: Type.Integer({
    description: "Credits that all of them charged together. A replay charges nothing.",
    examples: [10],
  }),
});

/** To see what a product's backend would see, before there is one. */
export function sandboxRequestOperations({ cellOf, sandboxRequest }: ManageParts): Operation[] {
  return [
    operation({
      method: "POST",
      path: `${ENVIRONMENT_PATH}/tries`,
      access: { role: "operator", in: "environment" },
      id: "tryRequest",
      noun: "Requests",
      summary: "Send one request many times at once",
      description:
        "Sends a check or a consume as often as you say, all at once, by the very way that a backend's requests go: one of them is " +
        "charged, and the others get its answer again. Only in the test environment; in live it is refused with `invalid_request` " +
        "and nothing is sent. No API key is needed, nor any rate counted. What the runtime turns down, such as a key that was used " +
        "for another request, is one of the answers. The requests are in the request log, under the id of this call, and the audit " +
        "says who sent them. Safe to repeat: the idempotency key sees to that.",
      params: Type.Object(environmentParams),
      body: SandboxBody,
      answer: SandboxAnswerSchema,
      codes: [],
      handle: async (call) => {
        refuseLive(call);
        const scope = scopeOf(call);
        const { endpoint, times, ...body } = call.body;
        const { answers, charged } = await sendSandboxRequests(
          { cell: cellOf(scope.cell), sandboxRequest },
          { scope, actor: actorOf(call) },
          { endpoint, times, body, requestId: call.request.id },
        );
        return { answers: [...answers], charged };
      },
    }),
  ];
}

/** Whom it charges there pays for it. */
function refuseLive(call: Call): void {
  if (scopeOf(call).environment === "test") return;
  throw invalidField({
    field: "environment",
    code: "wrong_form",
    message: "must be test: requests are not tried out on live customers",
  });
}
