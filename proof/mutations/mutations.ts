/** A plausible bug, as edits to one file, and a list of tests, at least one of which must fail. */
export type Mutation = {
  readonly name: string;
  readonly file: string;
  readonly edits: readonly Edit[];
  readonly tests: readonly string[];
};

/** The file must contain `find` exactly once. */
export type Edit = { readonly find: string; readonly replace: string };

const CORE = "service/src/entitlement";
const COMMIT = "service/src/runtime/commit";
const PEOPLE = "service/src/manage/people";

export const MUTATIONS: readonly Mutation[] = [
  {
    name: "wrong burn order",
    file: `${CORE}/burn-order.ts`,
    edits: [{ find: "return expiry;", replace: "return -expiry;" }],
    tests: [`${CORE}/decide.test.ts`],
  },
  {
    name: "period off by one",
    file: `${CORE}/period.ts`,
    edits: [
      { find: "boundary(kind, anchor, index + 1) <= at", replace: "boundary(kind, anchor, index + 1) < at" },
    ],
    tests: [`${CORE}/period.test.ts`],
  },
  {
    name: "limit that never resets",
    file: `${CORE}/limits.ts`,
    edits: [
      {
        find: "counter.feature === feature && isAhead(counter.end, now)",
        replace: "counter.feature === feature && now > 0",
      },
    ],
    tests: [`${CORE}/decide.test.ts`],
  },
  {
    name: "allowance granted twice at the end of a period",
    file: `${CORE}/catch-up.ts`,
    edits: [
      { find: "period.start, allowance.rollover);", replace: "period.start, allowance.rollover + 1);" },
    ],
    tests: [`${CORE}/catch-up.test.ts`],
  },
  {
    name: "charge on denial",
    file: `${CORE}/decide.ts`,
    edits: [
      {
        find: "  if (denial !== null || take === null) {",
        replace:
          '  if (denial?.reason === "limit_reached") for (const item of priced) charge(draft, item, null);\n' +
          "  if (denial !== null || take === null) {",
      },
    ],
    tests: [`${CORE}/properties.test.ts`],
  },
  {
    name: "items that charge before a later one denies",
    file: `${CORE}/decide.ts`,
    edits: [
      {
        find: "  if (denial !== null || take === null) {",
        replace:
          "  for (const item of priced.slice(0, denial?.deniedItem ?? 0)) charge(draft, item, null);\n" +
          "  if (denial !== null || take === null) {",
      },
    ],
    tests: [`${CORE}/decide-items.test.ts`],
  },
  {
    name: "replay that decides again",
    file: `${COMMIT}/decide-batch.ts`,
    edits: [
      {
        find: "if (earlier !== undefined) {",
        replace: 'if (earlier !== undefined && pending.request.endpoint === "events") {',
      },
    ],
    tests: ["proof/conformance/consume-replay.test.ts"],
  },
  {
    name: "float arithmetic",
    file: `${CORE}/catalog.ts`,
    edits: [
      {
        find: "return (product - rest) / cost.per + (rest > 0 ? 1 : 0);",
        replace: "return rest < 0 ? 0 : Math.ceil(quantity * (cost.credits / cost.per));",
      },
    ],
    tests: [`${CORE}/decide.test.ts`],
  },
  {
    name: "missing row lock",
    file: "service/src/store/cell/wallets.ts",
    edits: [{ find: '"for update skip locked"', replace: '""' }],
    tests: ["service/src/runtime/consume/races.test.ts"],
  },
  {
    name: "catalog read before the lock",
    file: `${COMMIT}/commit-batch.ts`,
    edits: [
      {
        find: "  const [dataFormat, , locked, foundKeys, storedEvents, holds, customers, revisions, now] =",
        replace:
          "  const before = await readCatalogRevisions(session, [...environments]);\n" +
          "  const [dataFormat, , locked, foundKeys, storedEvents, holds, customers, , now] =",
      },
      {
        find: "catalogs.findAll(session, environments, revisions, urgent)",
        replace: "catalogs.findAll(session, environments, before, urgent)",
      },
    ],
    tests: [`${COMMIT}/catalog-after-lock.test.ts`],
  },
  {
    name: "reversal to another grant",
    file: `${CORE}/reverse-consume.ts`,
    edits: [
      {
        find: "const parts = partsBetween(consume.parts, kept, charged);",
        replace: "const parts = partsBetween(consume.parts.toReversed(), kept, charged);",
      },
    ],
    tests: [`${CORE}/corrections.test.ts`],
  },
  {
    name: "hold that is settled twice",
    file: `${COMMIT}/decide-hold.ts`,
    edits: [
      {
        find: 'if (kind === "settled" || kind === "released")',
        replace: 'if (kind === "released")',
      },
    ],
    tests: ["service/src/runtime/holds/settle.test.ts"],
  },
  {
    name: "repeated reversal that is decided again",
    file: "service/src/manage/credits/reverse-by-api-key.ts",
    edits: [
      { find: "if (found !== undefined && !isEnded) {", replace: "if (found !== undefined && isEnded) {" },
    ],
    tests: ["service/src/runtime/reversals/reversals.test.ts"],
  },
  {
    name: "hold that outlives its end",
    file: `${CORE}/hold.ts`,
    edits: [{ find: "hold.expiresAt <= now", replace: "hold.expiresAt + 3_600_000 <= now" }],
    tests: [`${CORE}/hold.test.ts`],
  },
  {
    name: "held credits that survive a revocation",
    file: `${CORE}/hold.ts`,
    edits: [{ find: "grant === number && isRevoked", replace: "grant < number && isRevoked" }],
    tests: [`${CORE}/hold.test.ts`],
  },
  {
    name: "held credits that survive an expiry",
    file: `${CORE}/give-back.ts`,
    edits: [
      {
        find: 'kind !== "allowance" && isAhead(expiresAt, now) ? "spent" : "over"',
        replace: 'now > 0 ? "spent" : "over"',
      },
    ],
    tests: [`${CORE}/hold.test.ts`],
  },
  {
    name: "extension that adds instead of setting the total",
    file: `${CORE}/change-hold.ts`,
    edits: [{ find: "chargeFor(cost, total) - sumOf(parts)", replace: "chargeFor(cost, total)" }],
    tests: [`${CORE}/hold.test.ts`],
  },
  {
    name: "uncovered credits counted as charged",
    file: `${CORE}/hold.ts`,
    edits: [
      {
        find: "creditsCharged: creditsFromHold + way.further,",
        replace: "creditsCharged: creditsRequired,",
      },
    ],
    tests: [`${CORE}/hold.test.ts`],
  },
  {
    name: "overage that holds do not set aside",
    file: `${CORE}/overage.ts`,
    edits: [{ find: "Math.max(0, credits - used - held)", replace: "Math.max(0, credits - used)" }],
    tests: [`${CORE}/overage.test.ts`],
  },
  {
    name: "overage that a new period keeps counting",
    file: `${CORE}/catch-up.ts`,
    edits: [
      {
        find: "own, overageUsed: 0,",
        replace: "own, overageUsed: assignment.allowances.find((it) => it.pool === pool)?.overageUsed ?? 0,",
      },
    ],
    tests: [`${CORE}/overage.test.ts`],
  },
  {
    name: "allowance used elsewhere that does not count as used",
    file: `${CORE}/reduce-allowance.ts`,
    edits: [{ find: 'draft.move({ kind: "revoke",', replace: 'draft.move({ kind: "expire",' }],
    tests: [`${CORE}/reduce-allowance.test.ts`],
  },
  {
    name: "repeated import that reduces an allowance again",
    file: "service/src/manage/imports/decide-customer.ts",
    edits: [
      {
        find: "const isRepeated = reference !== null && referenced.has(reference);",
        replace: "const isRepeated = false;",
      },
    ],
    tests: ["service/src/manage/imports/opening-balances.test.ts"],
  },
  {
    name: "second request for a top-up while one is open",
    file: `${CORE}/top-ups.ts`,
    edits: [{ find: "const open = known?.open ?? null;", replace: "const open: OpenTopUp | null = null;" }],
    tests: [`${CORE}/top-ups.test.ts`],
  },
  {
    name: "request for a top-up repeated after 12 hours",
    file: `${CORE}/top-ups.ts`,
    edits: [
      {
        find: "askedAt + REPEAT_AFTER_MS *",
        replace: "askedAt + (REPEAT_AFTER_MS / 2) *",
      },
    ],
    tests: [`${CORE}/top-ups.test.ts`],
  },
  {
    name: "one more top-up than the month allows",
    file: `${CORE}/top-ups.ts`,
    edits: [{ find: ">= rule.monthlyMax) return null", replace: "> rule.monthlyMax) return null" }],
    tests: [`${CORE}/top-ups.test.ts`],
  },
  {
    name: "request for a top-up that any grant closes",
    file: `${CORE}/top-ups.ts`,
    edits: [{ find: 'grant.kind === "purchase" && grant.pool', replace: "grant.pool" }],
    tests: [`${CORE}/top-ups.test.ts`],
  },
  {
    name: "request for a top-up that a revocation opens",
    file: `${CORE}/top-ups.ts`,
    edits: [{ find: 'const mayOpen = mode === "open" ||', replace: "const mayOpen = true ||" }],
    tests: [`${CORE}/top-ups.test.ts`],
  },
  {
    name: "passkey of a user who was not verified",
    file: `${PEOPLE}/verify-passkey.ts`,
    edits: [
      {
        find: "expectedRPID: expected.party.id,\n      requireUserVerification: true,\n      // The caller",
        replace:
          "expectedRPID: expected.party.id,\n      requireUserVerification: false,\n      // The caller",
      },
    ],
    tests: [`${PEOPLE}/second-factor.test.ts`],
  },
  {
    name: "challenge that is kept after a log-in",
    file: `${PEOPLE}/second-factor-log-in.ts`,
    edits: [
      {
        find: 'await deleteChallenge(tx, attempted.tokenHash);\n    return { kind: "opened"',
        replace: 'return { kind: "opened"',
      },
    ],
    tests: [`${PEOPLE}/second-factor.test.ts`],
  },
  {
    name: "passkey with an attestation",
    file: `${PEOPLE}/verify-passkey.ts`,
    edits: [{ find: 'decoded?.get("fmt") === "none"', replace: "decoded !== null" }],
    tests: [`${PEOPLE}/forged-passkeys.test.ts`],
  },
  {
    name: "log-in that ends the log-ins of other networks",
    file: "service/src/store/control/challenges.ts",
    edits: [{ find: "        and source = $2\n", replace: "        and $2 <> ''\n" }],
    tests: [`${PEOPLE}/second-factor-limits.test.ts`],
  },
];
