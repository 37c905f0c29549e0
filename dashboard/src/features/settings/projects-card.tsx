import { useSuspenseQueries, useSuspenseQuery } from "@tanstack/react-query";
import { Pencil, Plus } from "lucide-react";
import { useState } from "react";
import { useForm } from "react-hook-form";
import type { Environment, Item } from "../../api/answer.ts";
import { type Project, projectsQuery } from "../../api/projects.ts";
import { refresh, useWrite } from "../../api/use-write.ts";
import { useMayActAs } from "../../frame/use-scope.ts";
import { Button, ButtonLink, TextLink } from "../../ui/button.tsx";
import { WriteDialog } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { Card } from "../../ui/page.tsx";
import { type Column, ListTable } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { notify } from "../../ui/toast.tsx";
import { defaultPlansQuery } from "../workspace/queries.ts";

type Plan = Item<"listPlans">;
type Line = { readonly project: Project; readonly plans: Record<Environment, Plan | null> };

export function ProjectsCard() {
  const { data: projects } = useSuspenseQuery(projectsQuery);
  const defaults = useSuspenseQueries({ queries: projects.map(({ id }) => defaultPlansQuery(id)) });
  const mayManage = useMayActAs("admin");
  const [renamed, setRenamed] = useState<Project | null>(null);
  const lines = projects.flatMap((project, index): Line[] => {
    const plans = defaults[index]?.data;
    return plans === undefined ? [] : [{ project, plans }];
  });
  return (
    <Card
      title="Projects"
      note="Each project has a test and a live environment."
      flush
      actions={
        mayManage && (
          <ButtonLink to="/welcome" icon={Plus}>
            Create project
          </ButtonLink>
        )
      }
    >
      <ListTable
        label="Projects"
        what="projects"
        columns={columnsOf(mayManage ? setRenamed : null)}
        rows={lines}
        keyOf={({ project }) => project.id}
      />
      {renamed !== null && <RenameProjectDialog project={renamed} onClose={() => setRenamed(null)} />}
    </Card>
  );
}

function columnsOf(onRename: ((project: Project) => void) | null): Column<Line>[] {
  return [
    {
      name: "Project",
      isWide: true,
      csv: ({ project }) => project.name,
      cell: (line) => (
        <>
          <span className="text-form font-medium wrap-anywhere">{line.project.name}</span>
          <div className="text-caption text-muted md:hidden">
            Default plan: <DefaultPlan line={line} environment="test" /> in Test,{" "}
            <DefaultPlan line={line} environment="live" /> in Live
          </div>
        </>
      ),
    },
    {
      name: "Default plan in Test",
      hidesBelow: "md",
      csv: ({ plans }) => plans.test?.name ?? null,
      cell: (line) => <DefaultPlan line={line} environment="test" />,
    },
    {
      name: "Default plan in Live",
      hidesBelow: "md",
      csv: ({ plans }) => plans.live?.name ?? null,
      cell: (line) => <DefaultPlan line={line} environment="live" />,
    },
    {
      name: "Created",
      hidesBelow: "md",
      csv: ({ project }) => project.createdAt,
      cell: ({ project }) => <Time at={project.createdAt} as="day" />,
    },
    ...(onRename === null
      ? []
      : [
          {
            name: "Actions",
            isActions: true,
            cell: ({ project }: Line) => (
              <Button tone="quiet" icon={Pencil} onClick={() => onRename(project)}>
                Rename<span className="sr-only"> {project.name}</span>
              </Button>
            ),
          },
        ]),
  ];
}

function DefaultPlan({ line: { project, plans }, environment }: { line: Line; environment: Environment }) {
  const scope = { projectId: project.id, environment };
  const plan = plans[environment];
  return plan === null ? (
    <TextLink to="/projects/$projectId/$environment/plans" params={scope}>
      None
    </TextLink>
  ) : (
    <TextLink to="/projects/$projectId/$environment/plans/$key" params={{ ...scope, key: plan.key }}>
      {plan.name}
    </TextLink>
  );
}

function RenameProjectDialog({ project, onClose }: { project: Project; onClose: () => void }) {
  const { id: projectId } = project;
  const { register, handleSubmit, watch } = useForm({ defaultValues: { name: project.name } });
  const requestOf = (body: { name: string }) => ({ params: { path: { projectId } }, body });
  const rename = useWrite("patch", "/manage/v1/projects/{projectId}", {
    onSuccess: async ({ name }) => {
      await refresh("projects");
      notify("Renamed project", `${project.name} → ${name}`);
      onClose();
    },
  });
  return (
    <WriteDialog
      title={`Rename ${project.name}`}
      note="Keys, customers, history and URLs do not change."
      write={rename}
      request={requestOf(watch())}
      action="Rename project"
      onSubmit={handleSubmit((body) => rename.mutate(requestOf(body)))}
      onClose={onClose}
    >
      <TextField label="Name" required maxLength={120} autoComplete="off" {...register("name")} />
    </WriteDialog>
  );
}
