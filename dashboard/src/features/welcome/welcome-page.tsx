import { useMutation, useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { FolderPlus } from "lucide-react";
import { type ComponentProps, type ReactNode, useId, useState } from "react";
import { type UseFormRegister, useForm } from "react-hook-form";
import text from "../../../../docs/guides/catalog.json?raw";
import type { Answer, Body } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import { type Project, projectsQuery } from "../../api/projects.ts";
import { queryClient } from "../../api/query-client.ts";
import { inEnvironment } from "../../format/environments.ts";
import { formatAllowance, formatCost, formatLimit } from "../../format/terms.ts";
import { useMayActAs } from "../../frame/use-scope.ts";
import { Button } from "../../ui/button.tsx";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { CodeBlock, curlOf, Disclosure } from "../../ui/code-block.tsx";
import { TextField } from "../../ui/field.tsx";
import { Card, EmptyState, Page } from "../../ui/page.tsx";
import { notify } from "../../ui/toast.tsx";
import { keepNewSecret } from "./secrets.tsx";

type Catalog = Body<"applyCatalog">["catalog"];

/** The same file as in the guide. */
const SAMPLE_CATALOG: Catalog = JSON.parse(text);

/** "Image generation": "10 credits per image" */
function describeFeatures({ features = [] }: Catalog) {
  return features.map(({ key, name, unit = null, cost: { credits, per = 1 } }) => ({
    key,
    name,
    cost: formatCost({ credits, per }, unit),
  }));
}

/** "Free": "100 credits a month, at most 5 images a day" */
function describePlans({ features = [], plans = [], defaultPlan = null }: Catalog) {
  const unitOf = (wanted: string): string | null => features.find(({ key }) => key === wanted)?.unit ?? null;
  return plans.map(({ key, name, allowances, features: included }) => ({
    key,
    name,
    isDefault: key === defaultPlan,
    terms: [
      ...allowances.map(({ rollover = 0, overage = 0, ...allowance }) =>
        formatAllowance({ ...allowance, rollover, overage }),
      ),
      ...included.flatMap(({ feature, limit = null }) =>
        limit === null ? [] : [formatLimit(limit, unitOf(feature))],
      ),
    ].join(", "),
  }));
}

const SAMPLE_BODY = { catalog: SAMPLE_CATALOG, reach: "new_assignments" } as const;

/** Creates a project. Keeps its secrets first, because only this response contains them. */
async function createProject(name: string): Promise<Project> {
  const { project, secrets } = await answerOf(api.POST("/manage/v1/projects", { body: { name } }));
  keepNewSecret({ projectId: project.id, environment: "test" }, secrets.test);
  keepNewSecret({ projectId: project.id, environment: "live" }, secrets.live);
  queryClient.setQueryData(projectsQuery.queryKey, (known = []) => [...known, project]);
  return project;
}

function applySample(projectId: string): Promise<Answer<"applyCatalog">> {
  return answerOf(
    api.POST("/manage/v1/projects/{projectId}/{environment}/catalog/apply", {
      params: { path: { projectId, environment: "test" } },
      body: SAMPLE_BODY,
    }),
  );
}

type Wanted = { name: string; start: Start };

/** Creates the first or another project. */
export function WelcomePage() {
  const { data: projects } = useSuspenseQuery(projectsQuery);
  const mayBegin = useMayActAs("admin");
  // Frozen: creating the first project must not change the text before the page closes.
  const [isFirst] = useState(projects.length === 0);
  const title = isFirst ? "Welcome to Purser" : "Create project";
  return (
    <Page
      title={title}
      note={
        isFirst
          ? "Create a project, then send your first event."
          : "Projects have separate customers, catalogs and keys."
      }
    >
      <div className="max-w-3xl">
        <Card>{mayBegin ? <ProjectForm /> : <NotYours isFirst={isFirst} />}</Card>
      </div>
    </Page>
  );
}

function ProjectForm() {
  const navigate = useNavigate();
  const [made, setMade] = useState<Project | null>(null);
  const { register, handleSubmit, watch } = useForm<Wanted>({ defaultValues: { name: "", start: "sample" } });
  const begin = useMutation({
    mutationFn: async ({ name, start }: Wanted) => {
      // A retry after a failed second step must not create another project.
      const project = made ?? (await createProject(name.trim()));
      setMade(project);
      if (start === "sample") await applySample(project.id);
      return project;
    },
    onSuccess: async ({ id, name }, { start }) => {
      notify(
        `Created ${name}`,
        start === "sample" ? "With the sample catalog in Test" : "With an empty catalog",
      );
      await navigate({
        to: "/projects/$projectId/$environment/first-event",
        params: { projectId: id, environment: "test" },
      });
    },
  });
  const { name, start } = watch();
  return (
    <form className="flex flex-col gap-6" onSubmit={handleSubmit((wanted) => begin.mutate(wanted))}>
      <TextField
        label="Project name"
        hint="Usually your product's name. You can rename the project later."
        required
        pattern=".*\S.*"
        maxLength={120}
        autoFocus
        autoComplete="off"
        disabled={made !== null}
        {...register("name")}
      />
      <StartChoices register={register} />
      <ProblemCallout error={begin.error} />
      {made !== null && begin.isError && (
        <Callout title={`Created ${made.name} without the sample catalog`}>
          Retry, or continue with an empty catalog.
        </Callout>
      )}
      <div className="flex flex-col gap-3">
        <div>
          <Button type="submit" tone="primary" isBusy={begin.isPending}>
            {buttonText(start, made !== null)}
          </Button>
        </div>
        <CreateByApi name={name} start={start} />
      </div>
    </form>
  );
}

function buttonText(start: Start, isMade: boolean): string {
  if (isMade) return start === "sample" ? inEnvironment("Apply sample catalog", "test") : "Continue";
  return "Create project";
}

function NotYours({ isFirst }: { isFirst: boolean }) {
  return (
    <EmptyState icon={FolderPlus} title={isFirst ? "No project yet" : "Only admins can create projects"}>
      Ask a workspace admin to create one.
    </EmptyState>
  );
}

function CreateByApi({ name, start }: { name: string; start: Start }) {
  const create = curlOf({ method: "POST", path: "/manage/v1/projects", body: { name: name.trim() } });
  return (
    <Disclosure title="API call">
      <CodeBlock
        label="the call"
        code={start === "blank" ? create : `${create} \\\n  > project.json\n${APPLY_TO_IT}`}
      />
    </Disclosure>
  );
}

/** The second call needs the ID from the first response. */
const APPLY_TO_IT = curlOf({
  method: "POST",
  path: "/manage/v1/projects/ID/test/catalog/apply",
  body: SAMPLE_BODY,
}).replace("/ID/", `/'$(jq -r .project.id project.json)'/`);

type Start = "sample" | "blank";

/** Initial catalog in Test. Live stays empty until promotion. */
function StartChoices({ register }: { register: UseFormRegister<{ name: string; start: Start }> }) {
  return (
    <fieldset className="grid gap-3 md:grid-cols-[3fr_2fr]">
      <legend className="mb-1 text-form font-medium">Start with</legend>
      <Choice title="Sample catalog" value="sample" {...register("start")}>
        <Sample />
      </Choice>
      <Choice title="Empty catalog" value="blank" {...register("start")}>
        <p>No features or plans. Events work immediately. Charges require a feature and a plan.</p>
      </Choice>
    </fieldset>
  );
}

function Sample() {
  return (
    <>
      <p>Features and plans to try out in Test.</p>
      <ul className="flex flex-col gap-1">
        {describeFeatures(SAMPLE_CATALOG).map(({ key, name, cost }) => (
          <li key={key}>
            <span className="text-ink">{name}</span>: {cost}
          </li>
        ))}
      </ul>
      <ul className="flex flex-col gap-1">
        {describePlans(SAMPLE_CATALOG).map(({ key, name, terms, isDefault }) => (
          <li key={key}>
            <span className="text-ink">{name}</span> plan{isDefault && ", the default"}: {terms}
          </li>
        ))}
      </ul>
    </>
  );
}

/** The whole card is clickable, but only the title is the accessible name. */
function Choice({
  title,
  children,
  ...input
}: { title: string; children: ReactNode } & Omit<
  ComponentProps<"input">,
  "id" | "type" | "className" | "title"
>) {
  const id = useId();
  return (
    <div className="relative flex items-start gap-2.5 rounded-lg border border-line p-3 hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft">
      <input
        {...input}
        id={id}
        type="radio"
        aria-describedby={`${id}-note`}
        className="mt-0.5 size-4 shrink-0 accent-accent"
      />
      <div className="min-w-0">
        <label htmlFor={id} className="text-form font-medium after:absolute after:inset-0">
          {title}
        </label>
        <div id={`${id}-note`} className="mt-1 flex flex-col gap-2 text-muted">
          {children}
        </div>
      </div>
    </div>
  );
}
