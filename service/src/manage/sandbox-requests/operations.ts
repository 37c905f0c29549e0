import { Type } from "typebox";
import {
  customerIdField,
  featureField,
  idempotencyKeyField,
  quantityField,
} from "../../edge/request-fields.ts";
import { invalidField, strictObject } from "../fields.ts";
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

const SandboxBody = strictObject({
  endpoint: Type.Enum(["check", "consume"], { description: "The runtime operation to call." }),
  customerId: customerIdField("An unknown customer is handled as in the runtime API."),
  feature: featureField,
  quantity: Type.Optional(quantityField),
  idempotencyKey: idempotencyKeyField("All requests use this key. A check ignores it."),
  times: Type.Integer({
    minimum: 1,
    maximum: TIMES_MAX,
    description: "Number of concurrent requests.",
    examples: [32],
  }),
});

const SandboxAnswerSchema = Type.Object({
  answers: Type.Array(
    Type.Object({
      count: Type.Integer({ description: "The number of requests with this response.", examples: [31] }),
      status: Type.Integer({ examples: [200] }),
      isReplay: Type.Boolean({
        description: "True if the stored response to an earlier request was returned.",
      }),
      body: Type.Record(Type.String(), Type.Unknown(), {
        description: "The endpoint's response, or an error object that includes its `code`.",
      }),
    }),
    {
      description: "Identical responses are grouped, in order of first arrival.",
    },
  ),
  charged: Type.Integer({
    description: "Credits charged by all requests. A replay charges nothing.",
    examples: [10],
  }),
});

/** Sends test requests without a backend. */
export function sandboxRequestOperations({ cellOf, sandboxRequest }: ManageParts): Operation[] {
  return [
    operation({
      method: "POST",
      path: `${ENVIRONMENT_PATH}/tries`,
      access: { role: "operator", in: "environment" },
      id: "tryRequest",
      noun: "Requests",
      summary: "Send concurrent test requests",
      description:
        "Sends the same check or consume request `times` times concurrently, as a backend would. A consume charges the customer only " +
        "once. The other requests get the same response. Works only in the test environment. In Live, the call fails with " +
        "`invalid_request` and sends nothing. Does not require an API key, and is not rate limited. Errors of the runtime API, such as a " +
        "reused key, are returned in `answers`. The request log shows each request under the ID of this call, and the audit " +
        "log shows the call. Safe to repeat: the same key charges only once.",
      params: Type.Object(environmentParams),
      body: SandboxBody,
      answer: SandboxAnswerSchema,
      handle: async (call) => {
        refuseLive(call);
        const scope = scopeOf(call);
        const { endpoint, times, ...body } = call.body;
        const { answers, charged } = await sendSandboxRequests(
          { cell: cellOf(scope), sandboxRequest },
          { scope, actor: actorOf(call) },
          { endpoint, times, body, requestId: call.request.id },
        );
        return { answers: [...answers], charged };
      },
    }),
  ];
}

/** Rejects the live environment, where a test request would charge a real customer. */
function refuseLive(call: Call): void {
  if (scopeOf(call).environment === "test") return;
  throw invalidField({
    field: "environment",
    code: "wrong_form",
    message: "must be test: test requests are not sent in Live",
  });
}
