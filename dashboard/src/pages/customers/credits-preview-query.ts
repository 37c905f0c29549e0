import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { Answer, Place } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import type { CreditsBody } from "./credits-form.ts";

export type CreditsPreview = Answer<"previewCredits">;

/** What adding them would do, as the API sees it this moment: never from memory. */
export function creditsPreviewQuery(
  { projectId, environment }: Place,
  customerId: string,
  body: CreditsBody | null,
) {
  // What it cost and what was noted changes nothing about it.
  const { price: _, note: __, ...asked } = body ?? { credits: 0, kind: "manual" as const };
  return queryOptions({
    queryKey: ["credits preview", { projectId, environment }, customerId, asked],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST("/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/credits/preview", {
          params: { path: { projectId, environment, customerId } },
          body: asked,
          signal,
        }),
      ),
    enabled: body !== null,
    staleTime: 0,
    gcTime: 0,
    meta: { tellsFailures: true },
    placeholderData: keepPreviousData,
  });
}

/** The same credits within the last minutes, as a name for exactly these: who accepts them has seen them. Null: none. */
export function twinsOf({ outcome, twins }: CreditsPreview): string | null {
  // Its own reference is there already: what looks like a twin is this very top-up.
  if (outcome !== "added" || twins.length === 0) return null;
  return twins.map(({ grant }) => grant).join();
}
