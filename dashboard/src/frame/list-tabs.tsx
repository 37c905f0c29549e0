import { TabLink, TabLinks } from "../ui/button.tsx";
import { useScope } from "./use-scope.ts";

const TABS = [
  { name: "All customers", to: "/projects/$projectId/$environment/customers" },
  { name: "Running out", to: "/projects/$projectId/$environment/running-out" },
] as const;

/** The lists of customers, which belong to different features. */
export function ListTabs() {
  const scope = useScope();
  return (
    <TabLinks label="Customers">
      {TABS.map(({ name, to }) => (
        <TabLink key={name} to={to} params={scope} activeOptions={{ exact: true, includeSearch: false }}>
          {name}
        </TabLink>
      ))}
    </TabLinks>
  );
}
