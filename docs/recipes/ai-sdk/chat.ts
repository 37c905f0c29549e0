// Streams an AI model's response with the AI SDK, and charges the customer for each token. Copy it together with ../clients/purser.ts.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { streamText } from "ai";
import { makeKey, stream } from "../clients/purser.ts";

const { MODEL_URL = "http://127.0.0.1:11434/v1", MODEL_KEY = "", MODEL = "llama3.2" } = process.env;
const provider = createOpenAICompatible({
  name: "model",
  baseURL: MODEL_URL,
  apiKey: MODEL_KEY,
  includeUsage: true,
});

const FEATURE = "chat.tokens";
const MAX_TOKENS = 2_000;
/** Number of extra tokens requested with each extension of the hold. */
const STEP = 200;
/** Most models send one token at a time. If yours does not, use its tokenizer. */
const countTokens = (_text: string) => 1;

type Question = { customerId: string; messageId: string; prompt: string; signal?: AbortSignal };

/** Calls `onText` for each token that is paid for. Returns the denial, the settlement or the release. */
export function chat({ customerId, messageId, prompt, signal }: Question, onText: (text: string) => void) {
  const idempotencyKey = makeKey("chat", messageId);
  return stream({ customerId, feature: FEATURE, idempotencyKey }, STEP, async (use) => {
    const stop = new AbortController();
    const abortSignal = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
    const result = streamText({
      model: provider(MODEL),
      prompt,
      maxOutputTokens: MAX_TOKENS,
      abortSignal,
      onError: () => {}, // thrown below
    });
    try {
      for await (const part of result.stream) {
        if (part.type === "error") throw part.error;
        // The model's own count is final: it includes tokens that were not sent as text.
        if (part.type === "finish") return part.totalUsage.outputTokens;
        if (part.type !== "text-delta" && part.type !== "reasoning-delta") continue;
        if (!(await use(countTokens(part.text)))) break;
        if (part.type === "text-delta") onText(part.text);
      }
    } finally {
      // Stop the model: no one will receive the rest.
      stop.abort();
    }
    return undefined;
  });
}
