import { test } from "vitest";
import { findDisagreement } from "../../test/model/compare.ts";
import { forEveryHistory } from "../../test/model/for-every-history.ts";
import { HISTORIES, HISTORIES_TIMEOUT_MS } from "../../test/model/histories.ts";
import { tellDisagreement } from "../../test/model/tell.ts";

test("every decision is the one that a slow and plain model makes", { timeout: HISTORIES_TIMEOUT_MS }, () => {
  forEveryHistory(HISTORIES, (script) => {
    const found = findDisagreement(script);
    if (found !== null) throw new Error(tellDisagreement(found));
  });
});
