import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { listen } from "../line.ts";

export type Plan = {
  /** Number of tokens that the model sends if nothing stops it. */
  readonly tokens: number;
  /** Tokens that the model includes in the final usage without sending them as text. */
  readonly hidden?: number;
  /** Breaks the connection after this many tokens. */
  readonly breakAfter?: number;
};

export type ModelServer = {
  readonly url: string;
  /** How each call ended. */
  readonly calls: {
    body: Record<string, unknown>;
    sent: number;
    end: "open" | "finished" | "closed by caller" | "broken";
  }[];
};

/** Starts a model server with the chat completions protocol. It sends a token every few milliseconds, and the usage at the end. */
export async function startModel({ tokens, hidden = 0, breakAfter }: Plan): Promise<ModelServer> {
  const calls: ModelServer["calls"] = [];
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as Record<string, unknown>;
    const call: (typeof calls)[number] = { body, sent: 0, end: "open" };
    calls.push(call);
    response.once("close", () => {
      if (call.end === "open") call.end = "closed by caller";
    });
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (rest: object) => {
      const common = {
        id: "chat-1",
        object: "chat.completion.chunk",
        created: 1_700_000_000,
        model: body["model"],
      };
      response.write(`data: ${JSON.stringify({ ...common, ...rest })}\n\n`);
    };
    while (call.sent < tokens && call.end === "open") {
      if (call.sent === breakAfter) {
        call.end = "broken";
        return void response.destroy();
      }
      call.sent += 1;
      const delta = { role: "assistant", content: `t${call.sent} ` };
      send({ choices: [{ index: 0, delta, finish_reason: null }] });
      await pause(4);
    }
    if (call.end !== "open") return;
    call.end = "finished";
    send({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
    const completion_tokens = tokens + hidden;
    send({
      choices: [],
      usage: { prompt_tokens: 5, completion_tokens, total_tokens: 5 + completion_tokens },
    });
    response.end("data: [DONE]\n\n");
  });
  return { url: `${await listen(server)}/v1`, calls };
}
