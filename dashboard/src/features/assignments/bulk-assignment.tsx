import type { Answer, Body, Scope } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
import { Button } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { DialogActions } from "../../ui/dialog.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import type { Customer, CustomerFilters } from "../customers/queries.ts";

type Effect = BulkPreview["sample"][number];

const COLUMNS: readonly Column<Effect>[] = [
  { name: "Customer", isWide: true, cell: ({ before }) => before.name ?? before.customerId },
  {
    name: "Plan",
    hidesWhenNarrow: true,
    cell: ({ before, after }) => `${before.plan?.name ?? "None"} → ${after.plan?.name ?? "None"}`,
  },
  {
    name: "Balance",
    isNumber: true,
    cell: ({ before, after }) => `${balancesOf(before)} → ${balancesOf(after)}`,
  },
];

/** How many customers change, with a sample. */
export function BulkPreviewView({
  preview: { matching, changed, wouldShorten, sample },
}: {
  preview: BulkPreview;
}) {
  const unchanged = matching - changed - wouldShorten;
  return (
    <div role="status" className="flex flex-col gap-3">
      <p>
        <span className="font-semibold">
          {changed === 0
            ? "Nothing will change."
            : `${formatCount(changed)} of ${countOf(matching, "customer")} will change.`}
        </span>{" "}
        {unchanged > 0 && `${formatCount(unchanged)} already ${unchanged === 1 ? "has" : "have"} the plan.`}{" "}
        {wouldShorten > 0 &&
          `${formatCount(wouldShorten)} already ${wouldShorten === 1 ? "has" : "have"} the plan with a later end date and ${wouldShorten === 1 ? "keeps" : "keep"} it.`}
      </p>
      {sample.length > 0 && (
        <div className="overflow-hidden rounded-md border border-line">
          <Table
            label="Sample of customers before and after"
            columns={COLUMNS}
            rows={sample}
            keyOf={({ before }) => before.customerId}
          />
        </div>
      )}
    </div>
  );
}

export function BulkRunning({ progress, parts }: { progress: BulkProgress | null; parts: number }) {
  return (
    <div role="status" className="flex flex-col gap-1">
      <progress
        aria-label="Progress"
        className="h-2 w-full accent-accent"
        max={parts}
        {...(parts === 1 ? {} : { value: progress?.partsDone ?? 0 })}
      />
      <p className="text-caption text-muted">
        {formatCount(progress?.changed ?? 0)} changed so far. If you stop, these changes are kept.
      </p>
    </div>
  );
}

export function BulkDone({
  done: { changed, unchanged, wouldShorten, skipped },
  plan,
  onClose,
}: {
  done: BulkProgress;
  plan: string;
  onClose: () => void;
}) {
  return (
    <>
      <div role="status">
        <Callout
          tone="good"
          title={changed === 0 ? "Nothing changed" : `${countOf(changed, "customer")} changed to ${plan}`}
        >
          {formatCount(unchanged)} already had the plan
          {wouldShorten === 0 ? "" : `, ${formatCount(wouldShorten)} kept a later end date`}
          {skipped === 0 ? "." : `, ${formatCount(skipped)} no longer matched.`}
        </Callout>
      </div>
      <DialogActions>
        <Button tone="primary" onClick={onClose}>
          Close
        </Button>
      </DialogActions>
    </>
  );
}

/** Without pool names, because most environments have one pool. */
export function balancesOf({ balances }: Customer): string {
  return balances.map(({ balance }) => formatCount(balance)).join(" / ") || "0";
}

export type BulkBody = Body<"previewBulkAssignment">;
type Preview = Answer<"previewBulkAssignment">;

export const BULK_PATH = "/manage/v1/projects/{projectId}/{environment}/bulk-assignments";

/** One page of the preview; the API limits the customers per call. */
type BulkPart = Pick<Preview, "matching" | "changed" | "wouldShorten"> & {
  readonly cursor: string | null;
};

type BulkPreview = {
  readonly parts: readonly BulkPart[];
  readonly sample: Preview["sample"];
  readonly matching: number;
  readonly changed: number;
  /** Customers whose plan already ends later than requested. */
  readonly wouldShorten: number;
};

export type BulkProgress = {
  readonly partsDone: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly wouldShorten: number;
  readonly skipped: number;
};

export function bulkFilterOf({ search, plan, blocked }: CustomerFilters): BulkBody["filter"] {
  return {
    ...(search === undefined ? {} : { search }),
    ...(plan === undefined ? {} : { plan }),
    ...(blocked === undefined ? {} : { isBlocked: blocked }),
  };
}

/** Previews the effect on all customers, in parts. */
export async function previewBulk(scope: Scope, body: BulkBody, signal: AbortSignal): Promise<BulkPreview> {
  const parts: BulkPart[] = [];
  let sample: Preview["sample"] = [];
  let cursor: string | null = null;
  do {
    const page: Preview = await answerOf(
      api.POST(`${BULK_PATH}/preview`, {
        params: { path: scope },
        body: { ...body, ...(cursor === null ? {} : { cursor }) },
        signal,
      }),
    );
    const { matching, changed, wouldShorten } = page;
    parts.push({ cursor, matching, changed, wouldShorten });
    sample = [...sample, ...page.sample].slice(0, 10);
    cursor = page.nextCursor;
  } while (cursor !== null);
  const [matching, changed] = [sumOf(parts, "matching"), sumOf(parts, "changed")];
  return { parts, sample, matching, changed, wouldShorten: sumOf(parts, "wouldShorten") };
}

/** Assigns page by page. The API rejects a page if its customer count differs from the preview. */
export async function assignBulk(
  scope: Scope,
  { body, parts }: { body: BulkBody; parts: readonly BulkPart[] },
  { onProgress, signal }: { onProgress: (progress: BulkProgress) => void; signal: AbortSignal },
): Promise<BulkProgress> {
  let done: BulkProgress = { partsDone: 0, changed: 0, unchanged: 0, wouldShorten: 0, skipped: 0 };
  for (const { cursor, matching: expectedCount } of parts) {
    const { changed, unchanged, wouldShorten, skipped } = await answerOf(
      api.POST(BULK_PATH, {
        params: { path: scope },
        body: { ...body, expectedCount, ...(cursor === null ? {} : { cursor }) },
        signal,
      }),
    );
    done = {
      partsDone: done.partsDone + 1,
      changed: done.changed + changed,
      unchanged: done.unchanged + unchanged,
      wouldShorten: done.wouldShorten + wouldShorten,
      skipped: done.skipped + skipped,
    };
    onProgress(done);
  }
  return done;
}

function sumOf(parts: readonly BulkPart[], name: "matching" | "changed" | "wouldShorten"): number {
  return parts.reduce((sum, part) => sum + part[name], 0);
}
