import { useSuspenseQuery } from "@tanstack/react-query";
import { usePlace } from "../../frame/use-place.ts";
import { Card } from "../../ui/card.tsx";
import { draftSentences } from "./plan-sentences.ts";
import type { DraftTerms } from "./plan-terms.ts";
import { featuresQuery, type Plan } from "./queries.ts";
import { SentenceList } from "./sentence-list.tsx";
import { useNames } from "./use-names.ts";

/** What publishing would change, while it is typed. */
export function DraftPreview({ plan, terms }: { plan: Plan; terms: DraftTerms }) {
  const place = usePlace();
  const names = useNames(place);
  const { data: features } = useSuspenseQuery(featuresQuery(place));
  const [latest = null] = plan.versions;
  const sentences = draftSentences(plan, terms, { names, features });
  return (
    <Card
      title={latest === null ? "What customers will get" : "What would change"}
      {...(latest === null ? {} : { note: `Against version ${latest.number}` })}
    >
      <div aria-live="polite">
        {sentences.length === 0 ? (
          <p className="text-muted">
            {latest === null ? "Nothing yet: give it credits and features." : "Nothing yet."}
          </p>
        ) : (
          <SentenceList label="What would change" sentences={sentences} />
        )}
      </div>
    </Card>
  );
}
