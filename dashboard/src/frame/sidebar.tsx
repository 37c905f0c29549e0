import { useSuspenseQuery } from "@tanstack/react-query";
import { Link, useNavigate, useRouterState } from "@tanstack/react-router";
import {
  Check,
  ChevronsUpDown,
  Clock,
  Keyboard,
  KeyRound,
  LogOut,
  type LucideIcon,
  Monitor,
  Moon,
  Plus,
  Search,
  Sun,
} from "lucide-react";
import type { ReactNode } from "react";
import type { Environment, Scope } from "../api/answer.ts";
import { hasEnvironment, type Project, projectsQuery, scopeIn } from "../api/projects.ts";
import { clearUserData } from "../api/query-client.ts";
import { logOut } from "../api/session.ts";
import { IconButton } from "../ui/button.tsx";
import { classNames } from "../ui/class-names.ts";
import { Kbd } from "../ui/kbd.tsx";
import { Menu, MenuItem, MenuLabel, MenuSeparator } from "../ui/menu.tsx";
import { chooseClock, chooseTheme, type Theme, useClock, useTheme } from "../ui/time.tsx";
import { notify } from "../ui/toast.tsx";
import { findNearestScope } from "./last-scope.ts";
import { DOCS, ENVIRONMENT_SECTIONS, sectionOf, workspaceSections } from "./sections.ts";
import { useOptionalScope, useRole, useSession } from "./use-scope.ts";

const ENTRY =
  "flex h-8 items-center gap-2.5 rounded-md px-2 text-form text-muted transition-colors hover:bg-hover hover:text-ink " +
  "data-[status=active]:bg-hover data-[status=active]:font-medium data-[status=active]:text-ink";

/** The router also sets these attributes, but only if the current path starts with the path of the link. */
const CURRENT = { "aria-current": "page", "data-status": "active" } as const;

function useSection() {
  return sectionOf(useRouterState({ select: ({ location }) => location.pathname }));
}

export function Sidebar({ onSearch, onHelp }: { onSearch: () => void; onHelp: () => void }) {
  const { data: projects } = useSuspenseQuery(projectsQuery);
  const session = useSession();
  const here = useOptionalScope();
  const scope = findNearestScope(here, projects);
  const section = useSection();
  return (
    <div className="flex h-full flex-col gap-4 overflow-y-auto px-3 pt-4 pb-3">
      <Link to="/" className="flex items-center gap-2 px-2 text-section font-semibold tracking-tight">
        <img src="/icon.svg" alt="" className="size-6" />
        Purser
      </Link>
      {scope !== null && <ScopeSwitch scope={scope} projects={projects} />}
      <button
        type="button"
        onClick={onSearch}
        className="flex h-8 items-center gap-2 rounded-md border border-line bg-canvas px-2 text-form text-muted hover:border-line-strong"
      >
        <Search className="size-4" aria-hidden />
        Search
        <span className="ml-auto">
          <Kbd keys={navigator.platform.startsWith("Mac") ? "⌘ K" : "Ctrl K"} />
        </span>
      </button>
      <nav aria-label="Main" className="flex flex-1 flex-col gap-4">
        {scope !== null && (
          <Group>
            {ENVIRONMENT_SECTIONS.map(({ name, to, icon }) => (
              <li key={name}>
                <Link
                  to={to}
                  params={scope}
                  activeOptions={{ exact: name === "Home" }}
                  className={ENTRY}
                  {...(section?.name === name ? CURRENT : {})}
                >
                  <Entry icon={icon}>{name}</Entry>
                </Link>
              </li>
            ))}
          </Group>
        )}
        <Group title="Workspace">
          {workspaceSections(session).map(({ name, to, icon }) => (
            <li key={name}>
              <Link to={to} className={ENTRY}>
                <Entry icon={icon}>{name}</Entry>
              </Link>
            </li>
          ))}
          <li>
            <a href={DOCS.href} className={ENTRY}>
              <Entry icon={DOCS.icon}>{DOCS.name}</Entry>
            </a>
          </li>
        </Group>
      </nav>
      <div className="flex items-center gap-1 border-t border-line pt-3">
        <UserMenu />
        <IconButton icon={Keyboard} label="Keyboard shortcuts" onClick={onHelp} />
      </div>
    </div>
  );
}

function Group({ title, children }: { title?: string; children: ReactNode }) {
  return (
    <div>
      {title !== undefined && <p className="px-2 pb-1 text-caption font-medium text-muted">{title}</p>}
      <ul className="flex flex-col gap-0.5">{children}</ul>
    </div>
  );
}

function Entry({ icon: Icon, children }: { icon: LucideIcon; children: ReactNode }) {
  return (
    <>
      <Icon className="size-4" aria-hidden />
      {children}
    </>
  );
}

const ENVIRONMENTS = [
  { environment: "test", name: "Test", look: "bg-test-soft text-test-ink", dot: "bg-test" },
  { environment: "live", name: "Live", look: "bg-live-soft text-live-ink", dot: "bg-live" },
] as const;

/** Switches project and environment. Stays in the section but leaves detail pages. */
function ScopeSwitch({ scope, projects }: { scope: Scope; projects: readonly Project[] }) {
  const go = useGoTo();
  const { role } = useSession();
  const project = projects.find(({ id }) => id === scope.projectId);
  const shown = ENVIRONMENTS.filter(
    ({ environment }) => project === undefined || hasEnvironment(project, environment),
  );
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
        {projects.map((each) => (
          <MenuItem key={each.id} onClick={() => go(scopeIn(each, scope.environment))}>
            <span className="min-w-0 flex-1 truncate" title={each.name}>
              {each.name}
            </span>
            {each.id === scope.projectId && <Check className="size-4" aria-label="selected" />}
          </MenuItem>
        ))}
        {role !== null && (
          <>
            <MenuSeparator />
            <MenuItem icon={Plus} onClick={() => go("new")}>
              Create project
            </MenuItem>
          </>
        )}
      </Menu>
      <fieldset className="grid auto-cols-fr grid-flow-col gap-1 rounded-lg bg-sunken p-1">
        <legend className="sr-only">Environment</legend>
        {shown.map(({ environment, name, look, dot }) => {
          const isHere = environment === scope.environment;
          return (
            <button
              key={environment}
              type="button"
              aria-pressed={isHere}
              onClick={() => go({ projectId: scope.projectId, environment })}
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
  const section = useSection();
  return (where) => {
    if (where === "new") {
      void navigate({ to: "/welcome" });
      return;
    }
    void navigate({ to: section?.to ?? "/projects/$projectId/$environment", params: where });
  };
}

const THEMES = {
  system: { name: "System", icon: Monitor, next: "light" },
  light: { name: "Light", icon: Sun, next: "dark" },
  dark: { name: "Dark", icon: Moon, next: "system" },
} as const satisfies Record<Theme, { name: string; icon: typeof Sun; next: Theme }>;

function UserMenu() {
  const { name, email } = useSession();
  const role = useRole();
  const theme = useTheme();
  const clock = useClock();
  const navigate = useNavigate();
  async function leave(everywhere: boolean): Promise<void> {
    try {
      await logOut(everywhere);
    } catch (error) {
      notify("Could not log out", error instanceof Error ? error.message : undefined);
      return;
    }
    clearUserData();
    await navigate({ to: "/log-in" });
  }
  return (
    <Menu
      side="top"
      trigger={
        <button
          type="button"
          className="flex h-10 min-w-0 flex-1 items-center gap-2 rounded-md px-2 text-left hover:bg-hover"
        >
          <span
            aria-hidden
            className="flex size-7 shrink-0 items-center justify-center rounded-full bg-accent-soft text-caption font-semibold text-accent"
          >
            {name.slice(0, 1).toUpperCase()}
          </span>
          <span className="min-w-0">
            <span className="block truncate text-form font-medium" title={name}>
              {name}
            </span>
            <span className="block truncate text-caption text-muted">{role ?? "some projects"}</span>
          </span>
        </button>
      }
    >
      <MenuLabel>{email ?? name}</MenuLabel>
      <MenuItem icon={THEMES[theme].icon} onClick={() => chooseTheme(THEMES[theme].next)}>
        Theme: {THEMES[theme].name}
      </MenuItem>
      <MenuItem icon={Clock} onClick={() => chooseClock(clock === "utc" ? "local" : "utc")}>
        Time zone: {clock === "utc" ? "UTC" : "Local"}
      </MenuItem>
      <MenuItem
        icon={KeyRound}
        onClick={() => void navigate({ to: "/workspace/settings/profile", hash: "password" })}
      >
        Change password
      </MenuItem>
      <MenuSeparator />
      <MenuItem icon={LogOut} onClick={() => void leave(false)}>
        Log out
      </MenuItem>
      <MenuItem icon={LogOut} onClick={() => void leave(true)}>
        Log out everywhere
      </MenuItem>
    </Menu>
  );
}
