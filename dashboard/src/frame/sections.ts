import {
  Activity,
  BookOpenText,
  ChartColumn,
  House,
  KeyRound,
  Layers,
  type LucideIcon,
  ScrollText,
  Settings,
  Sparkles,
  Ticket,
  UserRoundCog,
  UsersRound,
  Webhook,
} from "lucide-react";
import { mayActAs, type Role, type Roles } from "../api/session.ts";

/** Navigation entries. Typing g and then `key` opens the section. `tabs` lists the other routes in the section. */
export const ENVIRONMENT_SECTIONS = [
  { name: "Home", to: "/projects/$projectId/$environment", icon: House, key: "h" },
  {
    name: "Customers",
    to: "/projects/$projectId/$environment/customers",
    tabs: ["running-out"],
    icon: UsersRound,
    key: "c",
  },
  { name: "Plans", to: "/projects/$projectId/$environment/plans", icon: Layers, key: "p" },
  { name: "Features", to: "/projects/$projectId/$environment/features", icon: Sparkles, key: "f" },
  { name: "Requests", to: "/projects/$projectId/$environment/requests", icon: Activity, key: "r" },
  { name: "Usage", to: "/projects/$projectId/$environment/usage", icon: ChartColumn, key: "u" },
  { name: "API keys", to: "/projects/$projectId/$environment/api-keys", icon: KeyRound, key: "k" },
  { name: "Webhooks", to: "/projects/$projectId/$environment/webhooks", icon: Webhook, key: "w" },
] as const satisfies readonly Section[];

const WORKSPACE_SECTIONS = [
  { name: "Members", to: "/workspace/members", icon: UserRoundCog, key: "m", role: "viewer" },
  { name: "Management tokens", to: "/workspace/tokens", icon: Ticket, key: "t", role: "viewer" },
  { name: "Audit log", to: "/workspace/audit", icon: ScrollText, key: "a", role: null },
  { name: "Settings", to: "/workspace/settings", icon: Settings, key: "s", role: null },
] as const satisfies readonly (Section & { role: Role | null })[];

/** The workspace's sections for a member. Members with roles only in projects see no other members or tokens. */
export function workspaceSections({ role }: Roles) {
  return WORKSPACE_SECTIONS.filter((section) => mayActAs(role, section.role));
}

type Section = { name: string; to: string; tabs?: readonly string[]; icon: LucideIcon; key: string };

/** The section of a page in an environment. Null on Home and on pages without a section. */
export function sectionOf(path: string) {
  const route = path.split("/")[4] ?? "";
  const isHere = ({ to, tabs }: Section): boolean =>
    to.endsWith(`/${route}`) || tabs?.includes(route) === true;
  return route === "" ? null : (ENVIRONMENT_SECTIONS.find(isHere) ?? null);
}

export const DOCS = { name: "Documentation", href: "/docs/", icon: BookOpenText } as const;
