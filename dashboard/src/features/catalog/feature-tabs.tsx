import { useScope } from "../../frame/use-scope.ts";
import { TabLink, TabLinks } from "../../ui/button.tsx";

const TABS = [
  { name: "Features", to: "/projects/$projectId/$environment/features" },
  { name: "Event keys", to: "/projects/$projectId/$environment/features/event-keys" },
  { name: "Pools", to: "/projects/$projectId/$environment/features/pools" },
] as const;

export function FeatureTabs() {
  const scope = useScope();
  return (
    <TabLinks label="Features">
      {TABS.map(({ name, to }) => (
        <TabLink key={name} to={to} params={scope} activeOptions={{ exact: true, includeSearch: false }}>
          {name}
        </TabLink>
      ))}
    </TabLinks>
  );
}
