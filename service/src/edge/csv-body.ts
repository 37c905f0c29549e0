import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Problem } from "./problem.ts";

/** Of a file that is sent as a body. */
export const FILE_BYTES_MAX = 64 * 1024 * 1024;
/** How long a file may keep us waiting for its next piece. */
const SILENCE_MAX_MS = 30_000;
/** So much a file may keep us waiting in all before its average counts, and so slow that average may be. */
const GRACE_MS = 10_000;
const BYTES_PER_SECOND_MIN = 8 * 1024;
/** How long the rest of a file that nobody wants is taken off the wire, so that its sender comes to read the answer. */
const DRAIN_MAX_MS = 10_000;

/** A file whose bytes cannot be read on. What came before may have been dealt with already. */
export class BrokenFile extends Error {
  override readonly name = "BrokenFile";
  readonly code: "not_utf8" | "too_large" | "too_slow";

  constructor(code: BrokenFile["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * For routes that take a file instead of JSON. It is not parsed here: the operation reads it while it comes, and an empty
 * text stands in for it where bodies are looked at.
 */
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

/** Whether a socket brings a file that is read in pieces, each with its own time: it has no time as a whole. */
export function isUploading(socket: Duplex): boolean {
  return uploading.has(socket);
}

/** The body as text, piece by piece, no faster than it is taken. */
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
  // A lenient decoder would replace broken bytes, and make one customer of two. It leaves a byte order mark out.
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

/** No sender holds a turn by dripping. The time runs while we wait for them, not while they wait for us. */
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
    // Lets go of the stream: while somebody listens for pieces, it does not flow. One that we still wait for ends with it.
    const returned = pieces.return?.();
    if (!isWaiting) await returned;
    else returned?.catch(() => {});
  }
}

/** Null: that was all. */
async function nextPiece(pieces: AsyncIterator<Buffer>, allowedMs: number): Promise<Buffer | null> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(tooSlow()), allowedMs);
  const piece = pieces.next().then(
    ({ done, value }): Buffer | null => (done === true ? null : value),
    () => {
      throw new Problem("invalid_request", { detail: "The connection ended before the file did." });
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
    `The file came too slowly: less than ${BYTES_PER_SECOND_MIN} bytes a second, or nothing for ${SILENCE_MAX_MS / 1_000} s.`,
  );
}

function drain(raw: IncomingMessage): void {
  const timer = setTimeout(() => raw.destroy(), DRAIN_MAX_MS).unref();
  raw.once("close", () => clearTimeout(timer)).resume();
}
