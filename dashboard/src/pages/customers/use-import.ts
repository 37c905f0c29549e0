import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Answer } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import { usePlace } from "../../frame/use-place.ts";
import { tell } from "../../ui/toast.tsx";
import { countOf } from "../../words/numbers.ts";

export type ImportReport = Answer<"importCustomers">;
export type ImportWish = { readonly file: File; readonly name: string; readonly signal: AbortSignal };

/** The file goes as it is, for a look or for good. */
export function useImport(isDryRun: boolean) {
  const place = usePlace();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ file, name, signal }: ImportWish): Promise<ImportReport> =>
      answerOf(
        api.POST("/manage/v1/projects/{projectId}/{environment}/imports", {
          params: { path: place, query: { name, dryRun: isDryRun ? "true" : "false" } },
          headers: { "Content-Type": "text/csv" },
          body: "",
          bodySerializer: () => file,
          signal,
        }),
      ),
    onSuccess: ({ created, changed }) => {
      if (!isDryRun) {
        tell(`Imported ${countOf(created + changed, "customer")}`, `${created} new, ${changed} changed`);
      }
    },
    // Also when it was stopped: the rows until then are imported.
    onSettled: () => {
      if (isDryRun) return;
      void queryClient.invalidateQueries({ queryKey: ["customers", place] });
      void queryClient.invalidateQueries({ queryKey: ["customer", place] });
    },
  });
}
