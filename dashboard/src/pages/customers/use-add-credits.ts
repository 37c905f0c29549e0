import { useMutation, useQueryClient } from "@tanstack/react-query";
import { answerOf, api } from "../../api/client.ts";
import { usePlace } from "../../frame/use-place.ts";
import { tell } from "../../ui/toast.tsx";
import { countOf, formatCount } from "../../words/numbers.ts";
import type { CreditsBody } from "./credits-form.ts";
import { creditsPreviewQuery, twinsOf } from "./credits-preview-query.ts";
import type { Customer } from "./queries.ts";
import { useCustomerWritten } from "./use-customer-written.ts";

/** Looks once more before it adds: somebody else may have done the same since the preview. */
export function useAddCredits(
  { customerId, name }: Customer,
  { onAdded, onTwin }: { onAdded: () => void; onTwin: () => void },
) {
  const place = usePlace();
  const queryClient = useQueryClient();
  const refresh = useCustomerWritten(customerId);
  return useMutation({
    mutationFn: async ({ body, accepted }: { body: CreditsBody; accepted: string | null }) => {
      const preview = await queryClient.fetchQuery(creditsPreviewQuery(place, customerId, body));
      const twins = twinsOf(preview);
      if (twins !== null && twins !== accepted) return null;
      return answerOf(
        api.POST("/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/credits", {
          params: { path: { ...place, customerId } },
          body,
        }),
      );
    },
    onSuccess: async (added, { body: { credits } }) => {
      if (added === null) return onTwin();
      const { outcome, balanceBefore, balanceAfter } = added;
      if (outcome === "added") {
        const change = `Balance ${formatCount(balanceBefore)} → ${formatCount(balanceAfter)}`;
        tell(`Added ${countOf(credits, "credit")} to ${name ?? customerId}`, change);
      } else {
        tell("Nothing added again", `These credits were there already: ${formatCount(balanceAfter)}`);
      }
      onAdded();
      await refresh();
    },
  });
}
