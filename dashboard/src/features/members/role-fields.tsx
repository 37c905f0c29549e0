import { useSuspenseQuery } from "@tanstack/react-query";
import { Plus, Trash2 } from "lucide-react";
import { useFieldArray, useFormContext, useWatch } from "react-hook-form";
import type { Body, Environment } from "../../api/answer.ts";
import { type Project, projectsQuery } from "../../api/projects.ts";
import { mayActAs, type Role, type Roles } from "../../api/session.ts";
import { useSession } from "../../frame/use-scope.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Choices } from "../../ui/choices.tsx";
import { Select } from "../../ui/field.tsx";
import { nameOfRole, roleChoices } from "./roles.ts";

type WantedRole = NonNullable<Body<"inviteMember">["projectRoles"]>[number];

/** Rows of the form. An empty `environment` means both. */
type Row = Omit<WantedRole, "environment"> & { environment: Environment | "" };

export type RolesForm = { reach: "workspace" | "projects"; role: Role; rows: Row[] };

export function formOfRoles({ role, projectRoles }: Roles): RolesForm {
  const rows = projectRoles.map(({ projectId, environment, role }) => ({
    projectId,
    environment: environment ?? ("" as const),
    // The API accepts only these roles in projects.
    role: role === "owner" ? ("admin" as const) : role,
  }));
  return { reach: role === null ? "projects" : "workspace", role: role ?? "viewer", rows };
}

/** The roles that the form asks for. Admins and owners of the workspace have no use for roles in projects. */
export function rolesOf({ reach, role, rows }: RolesForm): {
  role: Role | null;
  projectRoles: WantedRole[];
} {
  const isEverywhere = reach === "workspace" && mayActAs(role, "admin");
  const projectRoles = rows.map(({ environment, ...row }) => ({ ...row, environment: environment || null }));
  return { role: reach === "workspace" ? role : null, projectRoles: isEverywhere ? [] : projectRoles };
}

const REACHES = [
  { value: "workspace", name: "Whole workspace", note: "All projects, including future ones." },
  { value: "projects", name: "Only some projects", note: "Cannot see other projects, members or tokens." },
];

const ENVIRONMENTS = [
  { value: "", label: "Both" },
  { value: "test", label: "Test" },
  { value: "live", label: "Live" },
] as const;

const PROJECT_ROLES = (["viewer", "operator", "admin"] as const).map((role) => ({
  value: role,
  label: nameOfRole(role),
}));

const ROWS_MAX = 50;

/** The role in the whole workspace, or roles in projects and environments. */
export function RoleFields() {
  const { register, control, getValues, setValue } = useFormContext<RolesForm>();
  const { role: own } = useSession();
  const [reach, role] = useWatch({ control, name: ["reach", "role"] });
  const { data: projects } = useSuspenseQuery(projectsQuery);
  return (
    <>
      <Choices
        label="Access"
        choices={REACHES}
        {...register("reach", {
          onChange: () => {
            if (getValues("reach") === "projects" && getValues("rows").length === 0)
              setValue("rows", [nextRow([], projects)]);
          },
        })}
      />
      {reach === "workspace" && <Choices label="Role" choices={roleChoices(own)} {...register("role")} />}
      {(reach === "projects" || !mayActAs(role, "admin")) && projects.length > 0 && (
        <ProjectRoles isRequired={reach === "projects"} />
      )}
    </>
  );
}

/** A row that names no environment of an earlier row. Prefers another project. */
function nextRow(rows: readonly Row[], projects: readonly Project[]): Row {
  const candidates = ENVIRONMENTS.flatMap(({ value: environment }) =>
    projects.map(({ id }) => ({ projectId: id, environment, role: "viewer" as const })),
  );
  const isNew = (row: Row): boolean => rows.every(({ projectId }) => projectId !== row.projectId);
  const isFree = (row: Row): boolean =>
    rows.every((one) => one.projectId !== row.projectId || one.environment !== row.environment);
  const fallback: Row = { projectId: "", environment: "", role: "viewer" };
  return candidates.find(isNew) ?? candidates.find(isFree) ?? candidates[0] ?? fallback;
}

function ProjectRoles({ isRequired }: { isRequired: boolean }) {
  const { register, control, getValues } = useFormContext<RolesForm>();
  const { fields, append, remove } = useFieldArray({ control, name: "rows" });
  const { data: projects } = useSuspenseQuery(projectsQuery);
  const options = projects.map(({ id, name }) => ({ value: id, label: name }));
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-form font-medium">
        {isRequired ? "Roles in projects" : "Higher roles in projects (optional)"}
      </legend>
      {fields.map(({ id }, index) => {
        const suffix = fields.length > 1 ? ` (row ${index + 1})` : "";
        return (
          <div
            key={id}
            className="grid grid-cols-[1fr_1fr_auto] items-end gap-2 max-sm:rounded-md max-sm:border max-sm:border-line max-sm:p-3 sm:grid-cols-[1.6fr_1fr_1.15fr_auto]"
          >
            <div className="max-sm:col-span-3">
              <Select
                label="Project"
                labelSuffix={suffix}
                options={options}
                {...register(`rows.${index}.projectId`)}
              />
            </div>
            <Select
              label="Environment"
              labelSuffix={suffix}
              options={ENVIRONMENTS}
              {...register(`rows.${index}.environment`)}
            />
            <Select
              label="Role"
              labelSuffix={suffix}
              options={PROJECT_ROLES}
              {...register(`rows.${index}.role`)}
            />
            <IconButton
              icon={Trash2}
              label={`Remove row ${index + 1}`}
              isDisabled={isRequired && fields.length === 1}
              onClick={() => remove(index)}
            />
          </div>
        );
      })}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Button
          icon={Plus}
          isDisabled={fields.length >= ROWS_MAX}
          onClick={() => append(nextRow(getValues("rows"), projects))}
        >
          Add project role
        </Button>
        {fields.length > 1 && (
          <span className="text-caption text-muted">If several roles apply, the highest one is used.</span>
        )}
      </div>
    </fieldset>
  );
}
