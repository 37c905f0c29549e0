import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Problem } from "./problem.ts";

/** Largest file that can be uploaded. */
export const FILE_BYTES_MAX = 64 * 1024 * 1024;
/** Longest wait for the next chunk. */
const SILENCE_MAX_MS = 30_000;
/** After this much waiting, the average upload speed must be at least `BYTES_PER_SECOND_MIN`. */
const GRACE_MS = 10_000;
const BYTES_PER_SECOND_MIN = 8 * 1024;
/** How long to keep reading a rejected file, so that the sender can receive the response. */
const DRAIN_MAX_MS = 10_000;

/** Thrown if the rest of the file cannot be read. Earlier rows may already have been processed. */
export class BrokenFile extends Error {
  override readonly name = "BrokenFile";
  readonly code: "not_utf8" | "too_large" | "too_slow";

  constructor(code: BrokenFile["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** Makes routes accept a CSV file instead of JSON. The operation reads the file as a stream, so `request.body` is an empty string. */
export function acceptOnlyCsv(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("text/csv", (request, _payload, done) => {
    const charset = /;\s*charset="?([^";\s]+)/i.exec(request.headers["content-type"] ?? "")?.[1];
    if (charset === undefined || /^(utf-8|us-ascii)$/i.test(charset)) done(null, "");
    else done(unsupported("The file must be UTF-8."));
  });
  app.addContentTypeParser("*", (_request, _payload, done) => {
    done(unsupported("Send the file with `Content-Type: text/csv`."));
  });
}

function unsupported(detail: string): Problem {
  return new Problem("unsupported_media_type", { detail });
}

const uploading = new WeakSet<Duplex>();

/** Whether a socket is uploading a file. Each chunk has its own timeout, so the request as a whole has none. */
export function isUploading(socket: Duplex): boolean {
  return uploading.has(socket);
}

/** The body as a stream of text, with backpressure. */
export async function* readText({ raw }: FastifyRequest): AsyncGenerator<string> {
  if (Number(raw.headers["content-length"] ?? 0) > FILE_BYTES_MAX) {
    throw new Problem("body_too_large", { detail: `A file may have at most ${FILE_BYTES_MAX} bytes.` });
  }
  uploading.add(raw.socket);
  try {
    yield* decode(readPieces(raw));
  } finally {
    uploading.delete(raw.socket);
    if (!raw.readableEnded) drain(raw);
  }
}

async function* decode(pieces: AsyncIterable<Buffer>): AsyncGenerator<string> {
  // `fatal`, because replacing invalid bytes could make two customer IDs equal. The decoder also removes a byte order mark.
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > FILE_BYTES_MAX) {
      throw new BrokenFile("too_large", `The file has more than ${FILE_BYTES_MAX} bytes.`);
    }
    yield decodeOrRefuse(() => decoder.decode(piece, { stream: true }));
  }
  yield decodeOrRefuse(() => decoder.decode());
}

function decodeOrRefuse(decode: () => string): string {
  try {
    return decode();
  } catch {
    throw new BrokenFile("not_utf8", "The file is not valid UTF-8.");
  }
}

/** Yields the chunks of the body, and rejects slow senders. Counts only the time spent waiting for the sender. */
async function* readPieces(raw: IncomingMessage): AsyncGenerator<Buffer> {
  const pieces: AsyncIterator<Buffer> = raw.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]();
  let bytes = 0;
  let waitedMs = 0;
  let isWaiting = false;
  try {
    for (;;) {
      const allowedMs = Math.max(GRACE_MS, (bytes / BYTES_PER_SECOND_MIN) * 1_000) - waitedMs;
      const sinceMs = performance.now();
      isWaiting = true;
      const piece = await nextPiece(pieces, Math.min(SILENCE_MAX_MS, allowedMs));
      isWaiting = false;
      waitedMs += performance.now() - sinceMs;
      if (piece === null) return;
      bytes += piece.length;
      yield piece;
    }
  } finally {
    // Releases the stream, which does not flow while an iterator is attached. Not awaited during a pending read, because `return`
    // resolves only after that read.
    const returned = pieces.return?.();
    if (!isWaiting) await returned;
    else returned?.catch(() => {});
  }
}

/** Reads the next chunk. Null at the end of the file. */
async function nextPiece(pieces: AsyncIterator<Buffer>, allowedMs: number): Promise<Buffer | null> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(tooSlow()), allowedMs);
  const piece = pieces.next().then(
    ({ done, value }): Buffer | null => (done === true ? null : value),
    () => {
      throw new Problem("invalid_request", { detail: "The connection closed before the end of the file." });
    },
  );
  try {
    return await Promise.race([piece, late.promise]);
  } catch (error) {
    piece.catch(() => {});
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function tooSlow(): BrokenFile {
  return new BrokenFile(
    "too_slow",
    `The file was sent too slowly: less than ${BYTES_PER_SECOND_MIN} bytes a second, or nothing for ${SILENCE_MAX_MS / 1_000} s.`,
  );
}

function drain(raw: IncomingMessage): void {
  const timer = setTimeout(() => raw.destroy(), DRAIN_MAX_MS).unref();
  raw.once("close", () => clearTimeout(timer)).resume();
}
