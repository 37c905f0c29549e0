import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { queryClient } from "../../api/query-client.ts";
import { useWrite } from "../../api/use-write.ts";
import { inEnvironment } from "../../format/environments.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
import { capitalize } from "../../format/terms.ts";
import { useMayActAs, useScope } from "../../frame/use-scope.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { ApiCall } from "../../ui/code-block.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { notify } from "../../ui/toast.tsx";
import { EditProblem } from "../catalog/edit-problem.tsx";
import { type PlanDiff, planReviewQuery, refreshCatalog } from "../catalog/queries.ts";
import { REACH_NAMES, type Reach, ReachChoice, SentenceList, useNames } from "./plan-parts.tsx";
import { renamed, sentencesOf } from "./plan-terms.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/plans/$key/publish");

/** Reviews and publishes a draft. */
export function PublishPlanPage() {
  const scope = useScope();
  const { key } = route.useParams();
  const { data: review } = useSuspenseQuery(planReviewQuery(scope, key));
  const { plan, diff } = review;
  const mayEdit = useMayActAs("admin");
  const params = { ...scope, key };
  if (diff === null)
    return (
      <Page title={`Publish ${plan.name}`}>
        <Callout title="No draft to publish">
          <p>The draft may have been published or discarded.</p>
          <div className="mt-2">
            <ButtonLink to="/projects/$projectId/$environment/plans/$key" params={params}>
              Open {plan.name}
            </ButtonLink>
          </div>
        </Callout>
      </Page>
    );
  return (
    <Page
      title={`Publish ${plan.name}`}
      heading={`Publish version ${(diff.latest ?? 0) + 1} of ${plan.name}`}
      note="A published version, including its costs, never changes."
      actions={
        <ButtonLink to="/projects/$projectId/$environment/plans/$key/edit" params={params}>
          Edit draft
        </ButtonLink>
      }
    >
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <Card
          title={diff.latest === null ? "Terms" : "Changes"}
          {...(diff.latest === null ? {} : { note: `Compared with version ${diff.latest}` })}
        >
          <Changes diff={diff} />
        </Card>
        {mayEdit && <PublishPanel planKey={key} etag={review.etag} diff={diff} />}
      </div>
    </Page>
  );
}

function Changes({ diff }: { diff: PlanDiff }) {
  const names = useNames(useScope());
  const { name, latest } = diff;
  const sentences = [
    ...(name === null || name.before === null ? [] : [renamed({ before: name.before, after: name.after })]),
    ...sentencesOf(diff, names),
  ];
  if (sentences.length > 0) return <SentenceList label="Changes" sentences={sentences} />;
  return (
    <p className="text-muted">
      {latest === null ? "No credits and no features." : `Same terms as version ${latest}.`}
    </p>
  );
}

function PublishPanel({ planKey: key, etag, diff }: { planKey: string; etag: string; diff: PlanDiff }) {
  const scope = useScope();
  const navigate = useNavigate();
  const [chosen, setReach] = useState<Reach>("new_assignments");
  const isFirst = diff.latest === null;
  const reach = isFirst ? "new_assignments" : chosen;
  const number = (diff.latest ?? 0) + 1;
  const request = {
    params: { path: { ...scope, key }, header: { "if-match": etag } },
    body: { reach, expectedVersion: diff.catalogVersion },
  };
  const publish = useWrite("post", "/manage/v1/projects/{projectId}/{environment}/plans/{key}/publish", {
    onSuccess: async (plan) => {
      await navigate({ to: "/projects/$projectId/$environment/plans/$key", params: { ...scope, key } });
      await refreshCatalog();
      notify(
        `Published version ${number} of ${plan.name}`,
        `Applies to: ${REACH_NAMES[reach].toLowerCase()}`,
      );
    },
  });
  return (
    <Card title="Publish">
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!publish.isPending) publish.mutate(request);
        }}
      >
        {isFirst ? (
          <p>This is the first version. After publishing, you can assign the plan to customers.</p>
        ) : (
          <>
            <p>{haveItNow(diff)}</p>
            <ReachChoice value={reach} onChange={setReach} notes={notesOf(diff)} />
          </>
        )}
        <EditProblem
          write={publish}
          edited={{ actions: ["plan", "feature."], subject: null }}
          read={() => queryClient.fetchQuery(planReviewQuery(scope, key))}
          note="Reload to see the current changes."
        />
        <ApiCall call={publish.callOf(request)} />
        <div>
          <Button type="submit" tone="primary" isBusy={publish.isPending}>
            {inEnvironment(`Publish version ${number}`, scope.environment)}
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
  if (count === 0 && isExact) return "No customer is on this plan.";
  return `${affected(diff)} ${count === 1 && isExact ? "is" : "are"} on this plan.`;
}

function notesOf(diff: PlanDiff): Record<Reach, string> {
  const { count, isExact } = diff.customersOnPlan;
  if (count === 0 && isExact) {
    const none = "No customer is on this plan yet.";
    return {
      new_assignments: "Customers who are assigned the plan from now on.",
      next_period: none,
      now: none,
    };
  }
  const isOne = count === 1 && isExact;
  const who = isOne ? "the customer on this plan" : `the ${affected(diff)} on this plan`;
  return {
    new_assignments: `${capitalize(who)} ${isOne ? "keeps" : "keep"} their current version.`,
    next_period: `Includes ${who}, from their next renewal.`,
    now: `Includes ${who}. Credits already used in this period are not returned.`,
  };
}
