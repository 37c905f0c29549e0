import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { listen } from "./listen.ts";

/** Up; cut before Purser hears anything; or cut after it has done what was asked, before its answer arrives. */
export type LineState = "up" | "cut" | "cut_after";

export type LineToPurser = { readonly url: string; state: LineState };

/** Stands between the recipe and Purser, and can fail as networks do. */
export async function startLineTo(purserUrl: string): Promise<LineToPurser> {
  const server = createServer(async (request, response) => {
    if (line.state === "cut") return void request.socket.destroy();
    const body = await buffer(request);
    const { host: _, connection: __, ...headers } = request.headers;
    const answer = await fetch(`${purserUrl}${request.url}`, {
      method: request.method ?? "GET",
      headers: headers as Record<string, string>,
      ...(body.length === 0 ? {} : { body }),
    });
    const text = await answer.text();
    if (line.state === "cut_after") return void request.socket.destroy();
    response.writeHead(answer.status, { "content-type": "application/json" }).end(text);
  });
  const line: LineToPurser = { url: await listen(server), state: "up" };
  return line;
}
