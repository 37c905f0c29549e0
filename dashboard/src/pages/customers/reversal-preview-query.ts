import { queryOptions } from "@tanstack/react-query";
import type { Answer } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import type { Whose } from "./audit-actors.ts";

export type ReversalPreview = Answer<"previewReversal">;

/** What reversing a charge would do, as the API decides it now. Null: all that is left of it. */
export function reversalPreviewQuery(
  { projectId, environment, customerId }: Whose,
  consumeId: string,
  quantity: number | null,
) {
  const whose = { projectId, environment, customerId };
  return queryOptions({
    queryKey: ["reversal preview", whose, consumeId, quantity],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST(
          "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/consumes/{consumeId}/reverse/preview",
          { params: { path: { ...whose, consumeId } }, body: { quantity }, signal },
        ),
      ),
    // Once for each opening: what changes later is found out by trying.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
    meta: { tellsFailures: true },
  });
}
