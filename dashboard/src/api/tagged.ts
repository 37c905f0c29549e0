import { answerOf } from "./client.ts";

/** What was read, and the `ETag` that names it: sent back as `If-Match`, it keeps two people from undoing each other. */
export type Tagged<T> = { readonly value: T; readonly etag: string };

export async function taggedAnswerOf<T>(
  call: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<Tagged<T>> {
  const value = await answerOf(call);
  const { response } = await call;
  return { value, etag: response.headers.get("etag") ?? "" };
}
