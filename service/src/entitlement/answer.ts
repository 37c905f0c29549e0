import { assert } from "../words/assert.ts";
import { publicId } from "../words/public-id.ts";
import type { Uuid } from "../words/uuid.ts";

/**
 * How an answer is kept under its key. The text is not stored but made again from what it is about: 2 bytes
 * instead of 60, and still the same bytes, as long as a format, once written, is never rendered differently.
 */
export const ANSWER_FORMAT_EVENT = 1;

export type StoredAnswer = { readonly format: number; readonly subjectId: Uuid };

/** A later release wrote this answer; only a later release can give it again. */
export class UnknownAnswerFormat extends Error {
  override readonly name = "UnknownAnswerFormat";
}

export function renderAnswer(answer: StoredAnswer): string {
  if (answer.format !== ANSWER_FORMAT_EVENT) throw new UnknownAnswerFormat(`answer format ${answer.format}`);
  assert(answer.subjectId.length === 16, "an answer names its event");
  return `{"accepted":true,"eventId":"${publicId("evt", answer.subjectId)}"}`;
}
