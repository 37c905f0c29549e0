import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Tagged } from "../../api/tagged.ts";
import { usePlace } from "../../frame/use-place.ts";
import { useMayActAs } from "../../frame/use-session.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Time } from "../../ui/time.tsx";
import { DiscardDraftDialog } from "./discard-draft-dialog.tsx";
import { draftSentences } from "./plan-sentences.ts";
import type { Draft } from "./plan-terms.ts";
import { featuresQuery, type Plan } from "./queries.ts";
import { SentenceList } from "./sentence-list.tsx";
import { useNames } from "./use-names.ts";

/** The next version while it is worked on, and what it would change. */
export function DraftCard({ opened, draft }: { opened: Tagged<Plan>; draft: Draft }) {
  const place = usePlace();
  const names = useNames(place);
  const { data: features } = useSuspenseQuery(featuresQuery(place));
  const mayEdit = useMayActAs("admin");
  const [isDiscarding, setDiscarding] = useState(false);
  const { key, versions } = opened.value;
  const [latest = null] = versions;
  const sentences = draftSentences(opened.value, draft, { names, features });
  const params = { ...place, key };
  return (
    <Card
      title={`Draft of version ${(latest?.number ?? 0) + 1}`}
      note={
        <>
          Saved <Time at={draft.changedAt} as="ago" />. Nobody gets it before it is published.
        </>
      }
      actions={
        mayEdit && (
          <>
            <Button tone="quiet" onClick={() => setDiscarding(true)}>
              Discard
            </Button>
            <ButtonLink to="/projects/$projectId/$environment/plans/$key/edit" params={params}>
              Edit draft
            </ButtonLink>
            <ButtonLink
              to="/projects/$projectId/$environment/plans/$key/publish"
              params={params}
              tone="primary"
            >
              Review and publish
            </ButtonLink>
          </>
        )
      }
    >
      {sentences.length === 0 ? (
        <p className="text-muted">
          {latest === null ? "It gives nothing yet." : `The same terms as version ${latest.number}.`}
        </p>
      ) : (
        <SentenceList label="What the draft changes" sentences={sentences} />
      )}
      {isDiscarding && <DiscardDraftDialog opened={opened} onClose={() => setDiscarding(false)} />}
    </Card>
  );
}
