import { useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Keyboard, type LucideIcon, Search } from "lucide-react";
import type { ReactNode } from "react";
import { projectsQuery } from "../api/projects.ts";
import { IconButton } from "../ui/button.tsx";
import { Kbd } from "../ui/kbd.tsx";
import { PlaceSwitch } from "./place-switch.tsx";
import { findRememberedPlace } from "./remembered-place.ts";
import { DOCS, PLACE_SECTIONS, WORKSPACE_SECTIONS } from "./sections.ts";
import { useOptionalPlace } from "./use-place.ts";
import { UserMenu } from "./user-menu.tsx";

const ENTRY =
  "flex h-8 items-center gap-2.5 rounded-md px-2 text-form text-muted transition-colors hover:bg-hover hover:text-ink " +
  "data-[status=active]:bg-hover data-[status=active]:font-medium data-[status=active]:text-ink";

export function Sidebar({ onSearch, onHelp }: { onSearch: () => void; onHelp: () => void }) {
  const { data: projects } = useSuspenseQuery(projectsQuery);
  const here = useOptionalPlace();
  const place = here ?? findRememberedPlace(projects);
  return (
    <div className="flex h-full flex-col gap-4 overflow-y-auto px-3 pt-4 pb-3">
      <Link to="/" className="flex items-center gap-2 px-2 text-section font-semibold tracking-tight">
        <img src="/icon.svg" alt="" className="size-6" />
        Purser
      </Link>
      {place !== null && <PlaceSwitch place={place} projects={projects} />}
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
        {place !== null && (
          <Group>
            {PLACE_SECTIONS.map(({ name, to, icon }) => (
              <li key={name}>
                <Link to={to} params={place} activeOptions={{ exact: name === "Home" }} className={ENTRY}>
                  <Entry icon={icon}>{name}</Entry>
                </Link>
              </li>
            ))}
          </Group>
        )}
        <Group title="Workspace">
          {WORKSPACE_SECTIONS.map(({ name, to, icon }) => (
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
