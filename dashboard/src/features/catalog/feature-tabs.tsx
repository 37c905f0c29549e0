import { usePlace } from "../../frame/use-here.ts";
import { TabLink, TabLinks } from "../../ui/button.tsx";

const TABS = [
  { name: "Features", to: "/projects/$projectId/$environment/features" },
  { name: "Event keys", to: "/projects/$projectId/$environment/features/event-keys" },
  { name: "Pools", to: "/projects/$projectId/$environment/features/pools" },
] as const;

export function FeatureTabs() {
  const place = usePlace();
  return (
    <TabLinks label="Features">
      {TABS.map(({ name, to }) => (
        <TabLink key={name} to={to} params={place} activeOptions={{ exact: true, includeSearch: false }}>
          {name}
        </TabLink>
      ))}
    </TabLinks>
  );
}
