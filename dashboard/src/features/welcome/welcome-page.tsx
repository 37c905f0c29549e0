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
import { allowanceInWords, costInWords, limitInWords } from "../../format/terms.ts";
import { useMayActAs } from "../../frame/use-here.ts";
import { Button } from "../../ui/button.tsx";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { CodeBlock, curlOf, Disclosure } from "../../ui/code-block.tsx";
import { TextField } from "../../ui/field.tsx";
import { Card, EmptyState, Page } from "../../ui/page.tsx";
import { tell } from "../../ui/toast.tsx";
import { keepNewSecret } from "./secrets.tsx";

type Catalog = Body<"applyCatalog">["catalog"];

/** The very document of the guide: what the guide explains is what is here. */
const SAMPLE_CATALOG: Catalog = JSON.parse(text);

/** "Image generation": "10 credits per image" */
function describeFeatures({ features = [] }: Catalog) {
  return features.map(({ key, name, unit = null, cost: { credits, per = 1 } }) => ({
    key,
    name,
    cost: costInWords({ credits, per }, unit),
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
      ...allowances.map(({ rollover = 0, ...allowance }) => allowanceInWords({ ...allowance, rollover })),
      ...included.flatMap(({ feature, limit = null }) =>
        limit === null ? [] : [limitInWords(limit, unitOf(feature))],
      ),
    ].join(", "),
  }));
}

const SAMPLE_BODY = { catalog: SAMPLE_CATALOG, reach: "new_assignments" } as const;

/** Its keys are in this answer and nowhere else: they are kept before anything else can fail. */
async function beginProject(name: string): Promise<Project> {
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

/** A project, the first or a further one. */
export function WelcomePage() {
  const { data: projects } = useSuspenseQuery(projectsQuery);
  const mayBegin = useMayActAs("admin");
  // What was there when the page was opened: making the first one must not change its words on the way out.
  const [isFirst] = useState(projects.length === 0);
  const title = isFirst ? "Welcome to Purser" : "New project";
  return (
    <Page
      title={title}
      note={
        isFirst
          ? "Two steps: a project, then its first event."
          : "One for each product: customers, catalogs and keys of two projects never meet."
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
      // Trying again after half of it failed makes no second project.
      const project = made ?? (await beginProject(name.trim()));
      setMade(project);
      if (start === "sample") await applySample(project.id);
      return project;
    },
    onSuccess: async ({ id, name }, { start }) => {
      tell(
        `${name} is made`,
        start === "sample" ? "With the sample catalog in test." : "With an empty catalog.",
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
        hint="The product that your customers use. It can be renamed."
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
        <Callout title={`${made.name} is made, the sample catalog is not applied`}>
          Try again, or go on with a blank catalog.
        </Callout>
      )}
      <div className="flex flex-col gap-3">
        <div>
          <Button type="submit" tone="primary" isBusy={begin.isPending}>
            {buttonText(start, made !== null)}
          </Button>
        </div>
        <BeginByApi name={name} start={start} />
      </div>
    </form>
  );
}

function buttonText(start: Start, isMade: boolean): string {
  if (isMade) return start === "sample" ? inEnvironment("Apply the sample catalog", "test") : "Go on";
  return start === "sample" ? inEnvironment("Create project, with the sample", "test") : "Create project";
}

function NotYours({ isFirst }: { isFirst: boolean }) {
  return (
    <EmptyState icon={FolderPlus} title={isFirst ? "There is no project yet" : "An admin makes projects"}>
      Ask an owner or admin of your workspace to make one: it appears here by itself.
    </EmptyState>
  );
}

function BeginByApi({ name, start }: { name: string; start: Start }) {
  const create = curlOf({ method: "POST", path: "/manage/v1/projects", body: { name: name.trim() } });
  return (
    <Disclosure title="Do this by API">
      <CodeBlock
        label="the call"
        code={start === "blank" ? create : `${create} \\\n  > project.json\n${APPLY_TO_IT}`}
      />
    </Disclosure>
  );
}

/** The second call needs the id that the first one answered with. */
const APPLY_TO_IT = curlOf({
  method: "POST",
  path: "/manage/v1/projects/ID/test/catalog/apply",
  body: SAMPLE_BODY,
}).replace("/ID/", `/'$(jq -r .project.id project.json)'/`);

type Start = "sample" | "blank";

/** What a project sells on its first day. Both are only in test: live stays empty until somebody promotes. */
function StartChoices({ register }: { register: UseFormRegister<{ name: string; start: Start }> }) {
  return (
    <fieldset className="grid gap-3 md:grid-cols-[3fr_2fr]">
      <legend className="mb-1 text-form font-medium">Start with</legend>
      <Choice title="Sample catalog" value="sample" {...register("start")}>
        <Sample />
      </Choice>
      <Choice title="Blank" value="blank" {...register("start")}>
        <p>
          No features and no plans. Usage events work at once; a charge needs a feature, which you define
          yourself.
        </p>
      </Choice>
    </fieldset>
  );
}

function Sample() {
  return (
    <>
      <p>Something to charge for, in test alone. Change or archive any of it.</p>
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

/** All of it can be clicked, and the title alone is its name. */
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
