import { useNavigate, useRouterState } from "@tanstack/react-router";
import { Check, ChevronsUpDown, Plus } from "lucide-react";
import type { Environment, Place } from "../api/answer.ts";
import type { Project } from "../api/projects.ts";
import { classNames } from "../ui/class-names.ts";
import { Menu, MenuItem, MenuLabel, MenuSeparator } from "../ui/menu.tsx";
import { PLACE_SECTIONS } from "./sections.ts";

const ENVIRONMENTS = [
  { environment: "test", name: "Test", look: "bg-test-soft text-test-ink", dot: "bg-test" },
  { environment: "live", name: "Live", look: "bg-live-soft text-live-ink", dot: "bg-live" },
] as const;

/** Which project, and which of its two environments. Switching stays in the section, and never on one customer. */
export function PlaceSwitch({ place, projects }: { place: Place; projects: readonly Project[] }) {
  const go = useGoTo();
  const project = projects.find(({ id }) => id === place.projectId);
  return (
    <div className="flex flex-col gap-2">
      <Menu
        trigger={
          <button
            type="button"
            className="flex h-8 items-center gap-2 rounded-md border border-line px-2 text-left text-form font-medium hover:bg-hover"
          >
            <span className="sr-only">Project</span>
            <span className="min-w-0 flex-1 truncate" title={project?.name}>
              {project?.name}
            </span>
            <ChevronsUpDown className="size-4 text-muted" aria-hidden />
          </button>
        }
      >
        <MenuLabel>Projects</MenuLabel>
        {projects.map(({ id, name }) => (
          <MenuItem key={id} onClick={() => go({ projectId: id, environment: place.environment })}>
            <span className="min-w-0 flex-1 truncate" title={name}>
              {name}
            </span>
            {id === place.projectId && <Check className="size-4" aria-label="chosen" />}
          </MenuItem>
        ))}
        <MenuSeparator />
        <MenuItem icon={Plus} onClick={() => go("new")}>
          New project
        </MenuItem>
      </Menu>
      <fieldset className="grid grid-cols-2 gap-1 rounded-lg bg-sunken p-1">
        <legend className="sr-only">Environment</legend>
        {ENVIRONMENTS.map(({ environment, name, look, dot }) => {
          const isHere = environment === place.environment;
          return (
            <button
              key={environment}
              type="button"
              aria-pressed={isHere}
              onClick={() => go({ projectId: place.projectId, environment })}
              className={classNames(
                "flex h-7 items-center justify-center gap-1.5 rounded-md text-form font-medium",
                isHere ? look : "text-muted hover:text-ink",
              )}
            >
              <span
                aria-hidden
                className={classNames("size-2 rounded-full", isHere ? dot : "bg-line-strong")}
              />
              {name}
            </button>
          );
        })}
      </fieldset>
    </div>
  );
}

function useGoTo(): (where: { projectId: string; environment: Environment } | "new") => void {
  const navigate = useNavigate();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const section = path.split("/")[4] ?? "";
  return (where) => {
    if (where === "new") {
      void navigate({ to: "/welcome" });
      return;
    }
    const to = PLACE_SECTIONS.find((known) => known.to.endsWith(`/${section}`) && section !== "")?.to;
    void navigate({ to: to ?? "/projects/$projectId/$environment", params: where });
  };
}
