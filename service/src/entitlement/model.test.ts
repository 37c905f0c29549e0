import { test } from "vitest";
import { HISTORIES, HISTORIES_TIMEOUT_MS } from "../../test/effort.ts";
import { findDisagreement } from "../../test/model/compare.ts";
import { describeDisagreement } from "../../test/model/describe-script.ts";
import { forEveryHistory } from "../../test/model/for-every-history.ts";

test("every decision matches the reference model", { timeout: HISTORIES_TIMEOUT_MS }, () => {
  forEveryHistory(HISTORIES, (script) => {
    const found = findDisagreement(script);
    if (found !== null) throw new Error(describeDisagreement(found));
  });
});
