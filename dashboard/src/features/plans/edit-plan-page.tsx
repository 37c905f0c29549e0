import { useMutation, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useBlocker, useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { FormProvider, useForm, useWatch } from "react-hook-form";
import { api, type Tagged, taggedAnswerOf } from "../../api/client.ts";
import { queryClient } from "../../api/query-client.ts";
import { callOf } from "../../api/use-write.ts";
import { inEnvironment } from "../../format/environments.ts";
import { useMayActAs, useScope } from "../../frame/use-scope.ts";
import { Button, TextLink } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { ApiCall } from "../../ui/code-block.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { notify } from "../../ui/toast.tsx";
import { EditProblem } from "../catalog/edit-problem.tsx";
import { NAME_RULES, NameField } from "../catalog/key-fields.tsx";
import { featuresQuery, type Plan, planQuery, poolsQuery, refreshCatalog } from "../catalog/queries.ts";
import { AllowanceFields, PlanFeatureFields } from "./plan-fields.tsx";
import { SentenceList, useNames } from "./plan-parts.tsx";
import { type DraftTerms, draftSentences } from "./plan-terms.ts";
import { isSameTerms, mergeTerms, type PlanValues, startOf, toTerms, toValues } from "./plan-values.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/plans/$key/edit");

export function EditPlanPage() {
  const scope = useScope();
  const { key } = route.useParams();
  const { data: tagged } = useSuspenseQuery(planQuery(scope, key));
  const { name, versions } = tagged.value;
  const mayEdit = useMayActAs("admin");
  return (
    <Page
      title={`Edit ${name}`}
      note={
        <>
          {versions.length === 0 ? "First version" : `Version ${(versions[0]?.number ?? 0) + 1}`} of{" "}
          <TextLink to="/projects/$projectId/$environment/plans/$key" params={{ ...scope, key }}>
            {name}
          </TextLink>
          . Not published yet.
        </>
      }
    >
      {mayEdit ? <PlanEditor key={key} first={tagged} /> : <Callout title="Only admins can edit plans" />}
    </Page>
  );
}

const DRAFT_PATH = "/manage/v1/projects/{projectId}/{environment}/plans/{key}/draft";

/** Editor with a live list of changes. */
function PlanEditor({ first }: { first: Tagged<Plan> }) {
  const scope = useScope();
  const navigate = useNavigate();
  const { data: features } = useSuspenseQuery(featuresQuery(scope));
  const { data: pools } = useSuspenseQuery(poolsQuery(scope));
  // Plan and ETag are frozen, so that a background refresh does not change the form.
  const [{ value: plan, etag }, setOpened] = useState(first);
  const { key } = plan;
  const start = startOf(plan);
  const form = useForm<PlanValues>({ defaultValues: toValues(start, { features, pools }) });
  useWatch({ control: form.control });
  const terms = toTerms(form.getValues());
  const isUnsaved = !isSameTerms(start, terms);
  const isLeaving = useRef(false);
  const requestOf = (body: DraftTerms) => ({
    params: { path: { ...scope, key }, header: { "if-match": etag } },
    body,
  });
  const save = useMutation({
    mutationFn: ({ values }: { values: PlanValues; isToPublish: boolean }) =>
      taggedAnswerOf(api.PUT(DRAFT_PATH, requestOf(toTerms(values)))),
    onSuccess: async (saved, { isToPublish }) => {
      setOpened(saved);
      await refreshCatalog();
      if (!isToPublish) {
        notify("Saved draft", "Not published yet");
        return;
      }
      isLeaving.current = true;
      await navigate({
        to: "/projects/$projectId/$environment/plans/$key/publish",
        params: { ...scope, key },
      });
    },
  });
  async function readAgain() {
    await refreshCatalog();
    return {
      read: await queryClient.fetchQuery(planQuery(scope, key)),
      features: await queryClient.fetchQuery(featuresQuery(scope)),
      pools: await queryClient.fetchQuery(poolsQuery(scope)),
    };
  }
  const submit = (isToPublish: boolean): void =>
    void form.handleSubmit((values) => {
      if (!save.isPending) save.mutate({ values, isToPublish });
    })();
  const isPublishing = save.isPending && save.variables.isToPublish;
  return (
    <FormProvider {...form}>
      <form
        noValidate
        className="grid items-start gap-6 lg:grid-cols-[1fr_20rem]"
        onSubmit={(event) => {
          event.preventDefault();
          submit(false);
        }}
      >
        <div className="flex min-w-0 flex-col gap-6">
          <Card title="Name">
            <NameField
              isLabelHidden
              error={form.formState.errors.name?.message}
              {...form.register("name", NAME_RULES)}
            />
          </Card>
          <AllowanceFields />
          <PlanFeatureFields />
        </div>
        <div className="flex min-w-0 flex-col gap-4 lg:sticky lg:top-6">
          <DraftPreview plan={plan} terms={terms} />
          <EditProblem
            write={save}
            edited={{ actions: ["plan"], subject: key }}
            read={readAgain}
            onRead={({ read, ...known }) => {
              const merged = mergeTerms(start, toTerms(form.getValues()), startOf(read.value));
              form.reset(toValues(merged, known));
              setOpened(read);
            }}
            note="Reloading keeps your changes and updates all other fields."
          />
          <div className="flex flex-col gap-2">
            <Button tone="primary" isBusy={isPublishing} onClick={() => submit(true)}>
              Review and publish
            </Button>
            <Button type="submit" isBusy={save.isPending && !isPublishing}>
              {inEnvironment("Save draft", scope.environment)}
            </Button>
            <p className="text-caption text-muted">
              {isUnsaved ? "Unsaved changes." : plan.draft === null ? "No changes." : "Saved."}
            </p>
          </div>
          <ApiCall call={callOf("put", DRAFT_PATH, requestOf(terms))} />
        </div>
      </form>
      <LeaveGuard isUnsaved={() => isUnsaved && !isLeaving.current} />
    </FormProvider>
  );
}

function DraftPreview({ plan, terms }: { plan: Plan; terms: DraftTerms }) {
  const scope = useScope();
  const names = useNames(scope);
  const { data: features } = useSuspenseQuery(featuresQuery(scope));
  const [latest = null] = plan.versions;
  const sentences = draftSentences(plan, terms, { names, features });
  return (
    <Card
      title={latest === null ? "Terms" : "Changes"}
      {...(latest === null ? {} : { note: `Compared with version ${latest.number}` })}
    >
      <div aria-live="polite">
        {sentences.length === 0 ? (
          <p className="text-muted">{latest === null ? "Add credits and features." : "No changes."}</p>
        ) : (
          <SentenceList label="Changes" sentences={sentences} />
        )}
      </div>
    </Card>
  );
}

/** Asks before leaving with unsaved changes. */
function LeaveGuard({ isUnsaved }: { isUnsaved: () => boolean }) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && isUnsaved(),
    enableBeforeUnload: isUnsaved,
    withResolver: true,
  });
  if (blocker.status !== "blocked") return null;
  return (
    <Dialog isOpen onClose={blocker.reset} title="Discard unsaved changes?">
      <p>Your changes to this draft are not saved.</p>
      <DialogActions>
        <Button onClick={blocker.proceed} tone="danger">
          Discard changes
        </Button>
        <Button onClick={blocker.reset} tone="primary">
          Keep editing
        </Button>
      </DialogActions>
    </Dialog>
  );
}
