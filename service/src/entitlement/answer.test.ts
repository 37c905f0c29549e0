import { expect, test } from "vitest";
import { ANSWER_FORMAT_EVENT, renderAnswer, UnknownAnswerFormat } from "./answer.ts";

const SUBJECT = Buffer.from("019a7f5c0000700080000000000000ff", "hex");

test("format 1, once written, is rendered as these very bytes for ever", () => {
  expect(ANSWER_FORMAT_EVENT).toBe(1);
  expect(renderAnswer({ format: 1, subjectId: SUBJECT })).toBe(
    '{"accepted":true,"eventId":"evt_01k9znr000e00800000000007z"}',
  );
});

test("a format of a later release is not guessed at", () => {
  for (const format of [0, 2]) {
    expect(() => renderAnswer({ format, subjectId: SUBJECT })).toThrow(UnknownAnswerFormat);
  }
});

test("an answer without its event is a broken invariant, not an answer", () => {
  expect(() => renderAnswer({ format: 1, subjectId: Buffer.alloc(0) })).toThrow("invariant");
});
