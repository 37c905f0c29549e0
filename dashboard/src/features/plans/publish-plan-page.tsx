import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { queryClient } from "../../api/query-client.ts";
import { useWrite } from "../../api/use-write.ts";
import { inEnvironment } from "../../format/environments.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
import { useMayActAs, usePlace } from "../../frame/use-here.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { ApiCall } from "../../ui/code-block.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { tell } from "../../ui/toast.tsx";
import { EditProblem } from "../catalog/edit-problem.tsx";
import { type PlanDiff, planReviewQuery, refreshCatalog } from "../catalog/queries.ts";
import { SentenceList, useNames } from "./plan-parts.tsx";
import { renamed, sentencesOf } from "./plan-terms.ts";
import { REACH_NAMES, type Reach, ReachChoice } from "./reach-choice.tsx";

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

function PublishPanel({ planKey: key, etag, diff }: { planKey: string; etag: string; diff: PlanDiff }) {
  const place = usePlace();
  const navigate = useNavigate();
  const [chosen, setReach] = useState<Reach>("new_assignments");
  const isFirst = diff.latest === null;
  const reach = isFirst ? "new_assignments" : chosen;
  const number = (diff.latest ?? 0) + 1;
  const request = {
    params: { path: { ...place, key }, header: { "if-match": etag } },
    body: { reach, expectedVersion: diff.catalogVersion },
  };
  const publish = useWrite("post", "/manage/v1/projects/{projectId}/{environment}/plans/{key}/publish", {
    onSuccess: async (plan) => {
      await navigate({ to: "/projects/$projectId/$environment/plans/$key", params: { ...place, key } });
      await refreshCatalog();
      tell(
        `Version ${number} of ${plan.name} is published`,
        `Who gets it: ${REACH_NAMES[reach].toLowerCase()}.`,
      );
    },
  });
  return (
    <Card title={isFirst ? "Publish" : "Publish to whom"}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!publish.isPending) publish.mutate(request);
        }}
      >
        {isFirst ? (
          <p>It is the first version: nobody has the plan yet. Assign it to customers afterwards.</p>
        ) : (
          <>
            <p>{haveItNow(diff)}</p>
            <ReachChoice value={reach} onChange={setReach} notes={notesOf(diff)} />
          </>
        )}
        <EditProblem
          write={publish}
          edited={{ actions: ["plan", "feature."], subject: null }}
          read={() => queryClient.fetchQuery(planReviewQuery(place, key))}
          note="Reading again shows what publishing would do now."
        />
        <ApiCall call={publish.callOf(request)} />
        <div>
          <Button type="submit" tone="primary" isBusy={publish.isPending}>
            {inEnvironment(`Publish version ${number}`, place.environment)}
          </Button>
        </div>
      </form>
    </Card>
  );
}

function affected({ customersOnPlan: { count, isExact } }: PlanDiff): string {
  return isExact ? countOf(count, "customer") : `${formatCount(count)} or more customers`;
}

function haveItNow(diff: PlanDiff): string {
  const { count, isExact } = diff.customersOnPlan;
  if (count === 0 && isExact) return "No customer has the plan now.";
  return `${affected(diff)} ${count === 1 && isExact ? "has" : "have"} the plan now.`;
}

function notesOf(diff: PlanDiff): Record<Reach, string> {
  const who = affected(diff);
  const { count, isExact } = diff.customersOnPlan;
  if (count === 0 && isExact) {
    const nobody = "Nobody has the plan yet, so this is the same for now.";
    return { new_assignments: "Whoever is assigned the plan from now on.", next_period: nobody, now: nobody };
  }
  const keep = count === 1 && isExact ? "keeps" : "keep";
  return {
    new_assignments: `Whoever is assigned the plan from now on. The ${who} on it ${keep} what they have.`,
    next_period: `Also the ${who} on it, each when their next period begins. Until then they keep what they have.`,
    now: `Also the ${who} on it, at once. What they have used of this period counts against the new allowance.`,
  };
}
