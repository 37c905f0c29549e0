import { TabLink, TabLinks } from "../ui/button.tsx";
import { useScope } from "./use-scope.ts";

const TABS = {
  Customers: [
    { name: "All customers", to: "/projects/$projectId/$environment/customers" },
    { name: "Running out", to: "/projects/$projectId/$environment/running-out" },
  ],
  Features: [
    { name: "Features", to: "/projects/$projectId/$environment/features" },
    { name: "Event keys", to: "/projects/$projectId/$environment/features/event-keys" },
    { name: "Pools", to: "/projects/$projectId/$environment/features/pools" },
  ],
  Usage: [
    { name: "Overview", to: "/projects/$projectId/$environment/usage" },
    { name: "Events", to: "/projects/$projectId/$environment/usage/events" },
    { name: "Monthly statement", to: "/projects/$projectId/$environment/usage/month-end" },
    { name: "Exports", to: "/projects/$projectId/$environment/usage/exports" },
  ],
} as const;

/** The pages of a section, some of which belong to other features. */
export function SectionTabs({ section }: { section: keyof typeof TABS }) {
  const scope = useScope();
  return (
    <TabLinks label={section}>
      {TABS[section].map(({ name, to }) => (
        <TabLink key={name} to={to} params={scope} activeOptions={{ exact: true, includeSearch: false }}>
          {name}
        </TabLink>
      ))}
    </TabLinks>
  );
}
