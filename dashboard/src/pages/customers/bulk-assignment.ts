import type { Answer, Body, Place } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import type { CustomerFilters } from "./queries.ts";

export type BulkBody = Body<"previewBulkAssignment">;
type Preview = Answer<"previewBulkAssignment">;

/** One call's share of everybody: the API looks at so many customers a call. */
export type BulkPart = Pick<Preview, "matching" | "changed" | "wouldShorten"> & {
  readonly cursor: string | null;
};

export type BulkPreview = {
  readonly parts: readonly BulkPart[];
  readonly sample: Preview["sample"];
  readonly matching: number;
  readonly changed: number;
  /** Who keep a later end of the plan than the one that is wanted. */
  readonly wouldShorten: number;
};

export type BulkProgress = {
  readonly partsDone: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly wouldShorten: number;
  readonly skipped: number;
};

/** The list's filters as the API takes them for many at once. */
export function bulkFilterOf({ search, plan, blocked }: CustomerFilters): BulkBody["filter"] {
  return {
    ...(search === undefined ? {} : { search }),
    ...(plan === undefined ? {} : { plan }),
    ...(blocked === undefined ? {} : { isBlocked: blocked }),
  };
}

/** What it would do to everybody, part by part. */
export async function previewBulk(place: Place, body: BulkBody, signal: AbortSignal): Promise<BulkPreview> {
  const parts: BulkPart[] = [];
  let sample: Preview["sample"] = [];
  let cursor: string | null = null;
  do {
    const page: Preview = await answerOf(
      api.POST("/manage/v1/projects/{projectId}/{environment}/bulk-assignments/preview", {
        params: { path: place },
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

/** Exactly what was previewed: a part that no longer has about as many customers is refused, and it ends there. */
export async function assignBulk(
  place: Place,
  { body, parts }: { body: BulkBody; parts: readonly BulkPart[] },
  { onProgress, signal }: { onProgress: (progress: BulkProgress) => void; signal: AbortSignal },
): Promise<BulkProgress> {
  let done: BulkProgress = { partsDone: 0, changed: 0, unchanged: 0, wouldShorten: 0, skipped: 0 };
  for (const { cursor, matching: expectedCount } of parts) {
    const { changed, unchanged, wouldShorten, skipped } = await answerOf(
      api.POST("/manage/v1/projects/{projectId}/{environment}/bulk-assignments", {
        params: { path: place },
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
