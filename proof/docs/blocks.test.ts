import { expect, test } from "vitest";
import { findBlocks, PAGES_WITH_COMMANDS, readPage } from "./blocks.ts";

test("shell blocks are found, with the reason why a block is not run", () => {
  const page =
    "# A\n\n```sh\none\ntwo\n```\n\n```json\n{}\n```\n\n1. B\n\n   <!-- not run: needs Stripe -->\n   ```sh\n   three\n   ```\n\n```sh\nfour\n```\n";
  expect(findBlocks(page)).toEqual([
    { line: 3, code: "one\ntwo", reason: null },
    { line: 15, code: "three", reason: "needs Stripe" },
    { line: 19, code: "four", reason: null },
  ]);
  const apart = findBlocks(`<!-- no block is run: needs a cluster -->\n${page}`);
  expect(apart.map(({ reason }) => reason)).toEqual(["needs a cluster", "needs Stripe", "needs a cluster"]);
});

test("more than 30 blocks in the docs are run", () => {
  const run = PAGES_WITH_COMMANDS.flatMap((page) => findBlocks(readPage(page))).filter(
    ({ reason }) => reason === null,
  );
  expect(run.length).toBeGreaterThan(30);
});

test("the runner replaces every placeholder in the blocks that it runs", () => {
  const broken = PAGES_WITH_COMMANDS.flatMap((page) =>
    findBlocks(readPage(page)).flatMap(({ line, code, reason }) => {
      const rest = code.replace(/pur_(test|live|mgmt)_…|DATABASE_URL=…/g, "");
      return reason === null && rest.includes("…") ? [`${page}:${line}`] : [];
    }),
  );
  expect(broken).toEqual([]);
});
