import { expect, test } from "vitest";
import { SIGN_ON_FAILURES } from "../../service/src/manage/single-sign-on/failures.ts";
import { readSignOnProblem, SIGN_ON_PROBLEMS } from "../src/format/sign-on.ts";

test("every reason for a failed sign-in has a sentence, and nothing else in the address is shown", () => {
  expect(Object.keys(SIGN_ON_PROBLEMS).sort()).toEqual(Object.keys(SIGN_ON_FAILURES).sort());
  expect(readSignOnProblem("not_invited")).toEqual({ problem: "not_invited" });
  for (const value of ["toString", "<b>", 7, undefined]) expect(readSignOnProblem(value)).toEqual({});
});
