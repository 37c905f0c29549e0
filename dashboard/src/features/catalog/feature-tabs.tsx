import { usePlace } from "../../frame/use-here.ts";
import { TabLink, TabLinks } from "../../ui/button.tsx";

export function FeatureTabs() {
  const place = usePlace();
  return (
    <TabLinks label="Features">
      <TabLink
        to="/projects/$projectId/$environment/features"
        params={place}
        activeOptions={{ exact: true, includeSearch: false }}
      >
        Features
      </TabLink>
      <TabLink
        to="/projects/$projectId/$environment/features/event-keys"
        params={place}
        activeOptions={{ exact: true, includeSearch: false }}
      >
        Event keys
      </TabLink>
      <TabLink
        to="/projects/$projectId/$environment/features/pools"
        params={place}
        activeOptions={{ exact: true, includeSearch: false }}
      >
        Pools
      </TabLink>
    </TabLinks>
  );
}
