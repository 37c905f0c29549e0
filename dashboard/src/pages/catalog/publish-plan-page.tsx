import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { usePlace } from "../../frame/use-place.ts";
import { useMayActAs } from "../../frame/use-session.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { Card } from "../../ui/card.tsx";
import { Page } from "../../ui/page.tsx";
import { renamed, sentencesOf } from "./plan-sentences.ts";
import { PublishPanel } from "./publish-panel.tsx";
import { type PlanDiff, planReviewQuery } from "./queries.ts";
import { SentenceList } from "./sentence-list.tsx";
import { useNames } from "./use-names.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/plans/$key/publish");

/** What publishing would do, before it is done. */
export function PublishPlanPage() {
  const place = usePlace();
  const { key } = route.useParams();
  const { data: review } = useSuspenseQuery(planReviewQuery(place, key));
  const { plan, diff } = review;
  const mayEdit = useMayActAs("admin");
  const params = { ...place, key };
  if (diff === null)
    return (
      <Page title={`Publish ${plan.name}`}>
        <Callout title="There is no draft to publish">
          <p>Somebody may have published or discarded it.</p>
          <div className="mt-2">
            <ButtonLink to="/projects/$projectId/$environment/plans/$key" params={params}>
              Look at {plan.name}
            </ButtonLink>
          </div>
        </Callout>
      </Page>
    );
  return (
    <Page
      title={`Publish ${plan.name}`}
      heading={`Publish version ${(diff.latest ?? 0) + 1} of ${plan.name}`}
      note="A published version never changes, and pins what each feature costs now."
      actions={
        <ButtonLink to="/projects/$projectId/$environment/plans/$key/edit" params={params}>
          Go on editing
        </ButtonLink>
      }
    >
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <Card
          title={diff.latest === null ? "What customers get" : "What changes"}
          {...(diff.latest === null ? {} : { note: `Against version ${diff.latest}` })}
        >
          <Changes diff={diff} />
        </Card>
        {mayEdit && <PublishPanel planKey={key} etag={review.etag} diff={diff} />}
      </div>
    </Page>
  );
}

function Changes({ diff }: { diff: PlanDiff }) {
  const names = useNames(usePlace());
  const { name, latest } = diff;
  const sentences = [
    ...(name === null || name.before === null ? [] : [renamed({ before: name.before, after: name.after })]),
    ...sentencesOf(diff, names),
  ];
  if (sentences.length > 0) return <SentenceList label="What changes" sentences={sentences} />;
  return (
    <p className="text-muted">
      {latest === null
        ? "It gives nothing: no credits and no features."
        : `Nothing: the terms are those of version ${latest}. Publishing still chooses who gets them.`}
    </p>
  );
}
