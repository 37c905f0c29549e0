import { useScope } from "../../frame/use-scope.ts";
import { TabLink, TabLinks } from "../../ui/button.tsx";

const TABS = [
  { name: "Overview", to: "/projects/$projectId/$environment/usage" },
  { name: "Events", to: "/projects/$projectId/$environment/usage/events" },
  { name: "Monthly statement", to: "/projects/$projectId/$environment/usage/month-end" },
  { name: "Exports", to: "/projects/$projectId/$environment/usage/exports" },
] as const;

export function UsageTabs() {
  const scope = useScope();
  return (
    <TabLinks label="Usage">
      {TABS.map(({ name, to }) => (
        <TabLink key={name} to={to} params={scope} activeOptions={{ exact: true, includeSearch: false }}>
          {name}
        </TabLink>
      ))}
    </TabLinks>
  );
}
