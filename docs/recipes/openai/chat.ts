// Streams an AI model's response with the openai package, and charges the customer for each token. Copy it together with ../clients/purser.ts.
import OpenAI from "openai";
import { makeKey, stream } from "../clients/purser.ts";

const { MODEL_URL = "https://api.openai.com/v1", MODEL_KEY = "", MODEL = "gpt-5-mini" } = process.env;
const openai = new OpenAI({ baseURL: MODEL_URL, apiKey: MODEL_KEY });

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
    const completion = await openai.chat.completions.create(
      {
        model: MODEL,
        messages: [{ role: "user", content: prompt }],
        max_completion_tokens: MAX_TOKENS,
        stream: true,
        stream_options: { include_usage: true },
      },
      { signal },
    );
    try {
      for await (const { choices, usage } of completion) {
        // Only the last chunk has the model's own count. It is final: it includes tokens that were not sent as text.
        if (usage) return usage.completion_tokens;
        const text = choices[0]?.delta.content ?? "";
        if (text === "") continue;
        if (!(await use(countTokens(text)))) break;
        onText(text);
      }
    } finally {
      // Stop the model: no one will receive the rest.
      completion.controller.abort();
    }
    return undefined;
  });
}
