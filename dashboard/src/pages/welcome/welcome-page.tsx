import { useMutation, useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { FolderPlus } from "lucide-react";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { type Project, projectsQuery } from "../../api/projects.ts";
import { useMayActAs } from "../../frame/use-session.ts";
import { Button } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { Card } from "../../ui/card.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { TextField } from "../../ui/field.tsx";
import { Page } from "../../ui/page.tsx";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { tell } from "../../ui/toast.tsx";
import { inEnvironment } from "../../words/environments.ts";
import { BeginByApi } from "./begin-by-api.tsx";
import { applySample, beginProject } from "./begin-project.ts";
import { type Start, StartChoices } from "./start-choices.tsx";

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
