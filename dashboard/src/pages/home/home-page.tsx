import { useQuery } from "@tanstack/react-query";
import { usePlace } from "../../frame/use-place.ts";
import { Page } from "../../ui/page.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { FreshEnvironment } from "./fresh-environment.tsx";
import { LatestRequests } from "./latest-requests.tsx";
import { LowBalances } from "./low-balances.tsx";
import { Denials, Errors } from "./outcomes.tsx";
import { hasCustomersQuery, latestRequestsQuery } from "./queries.ts";
import { SupportCases } from "./support-cases.tsx";
import { Traffic } from "./traffic.tsx";
import { UnknownKeys } from "./unknown-keys.tsx";

/** What needs a look today; in a fresh environment, what to do first. */
export function HomePage() {
  const place = usePlace();
  const requests = useQuery(latestRequestsQuery(place));
  const hasCustomers = useQuery(hasCustomersQuery(place));
  // The log forgets after a week, customers stay: only without either nothing ever came.
  const isFresh = requests.data?.length === 0 && hasCustomers.data === false;
  const isUnknown = requests.isPending || hasCustomers.isPending;
  return (
    <Page title="Home">
      {isUnknown ? <SkeletonRows rows={12} /> : isFresh ? <FreshEnvironment /> : <Overview />}
    </Page>
  );
}

function Overview() {
  return (
    <>
      <SupportCases />
      <Traffic />
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <div className="grid min-w-0 gap-6">
          <Denials />
          <LowBalances />
        </div>
        <div className="grid min-w-0 gap-6">
          <Errors />
          <UnknownKeys />
        </div>
      </div>
      <LatestRequests />
    </>
  );
}
