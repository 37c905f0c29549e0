import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { Item } from "../../api/answer.ts";
import { usePlace } from "../../frame/use-place.ts";
import { FilterField } from "../../ui/filter-field.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { countOf, formatCount } from "../../words/numbers.ts";
import { LineOf, Lines, Nothing, Part } from "./part.tsx";
import { BALANCE_BELOW, lowBalancesQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/");

/** Who will be denied soon. What is low is in the address. */
export function LowBalances() {
  const place = usePlace();
  const { balanceBelow = BALANCE_BELOW } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery({ ...lowBalancesQuery(place, balanceBelow), placeholderData: (before) => before });
  function choose(text: string): void {
    void navigate({
      search: /^\d{1,15}$/.test(text) ? { balanceBelow: Number(text) } : {},
      replace: true,
      resetScroll: false,
    });
  }
  return (
    <Part
      title="Low balances"
      query={query}
      actions={
        <div className="flex items-center gap-2 text-muted">
          <span aria-hidden>below</span>
          <span className="w-24">
            <FilterField
              label="Balance below"
              type="number"
              min={0}
              value={String(balanceBelow)}
              onFilter={choose}
            />
          </span>
        </div>
      }
    >
      {({ customers, hasMore }) =>
        customers.length === 0 ? (
          <Nothing>
            {hasMore
              ? "None among the newest customers."
              : `Nobody has less than ${countOf(balanceBelow, "credit")}.`}
          </Nothing>
        ) : (
          <>
            <Lines>
              {customers.map((customer) => (
                <Line key={customer.customerId} customer={customer} balanceBelow={balanceBelow} />
              ))}
            </Lines>
            {hasMore && (
              <p className="border-t border-line px-4 py-2 text-caption">
                <TextLink
                  to="/projects/$projectId/$environment/customers"
                  params={place}
                  search={{ balanceBelow }}
                >
                  All below {formatCount(balanceBelow)}
                </TextLink>
              </p>
            )}
          </>
        )
      }
    </Part>
  );
}

function Line({ customer, balanceBelow }: { customer: Item<"listCustomers">; balanceBelow: number }) {
  const place = usePlace();
  const { customerId, name, plan, balances } = customer;
  const low = balances.filter(({ balance }) => balance < balanceBelow);
  return (
    <LineOf
      end={low.map(({ pool, balance }) => (
        <span key={pool} className={balance === 0 ? "font-medium text-bad" : undefined}>
          {formatCount(balance)}
          {balances.length > 1 && <span className="text-muted"> {pool}</span>}
        </span>
      ))}
    >
      <TextLink
        to="/projects/$projectId/$environment/customers/$customerId"
        params={{ ...place, customerId }}
      >
        {name ?? customerId}
      </TextLink>
      <span className="text-caption text-muted">{plan?.name ?? "No plan"}</span>
    </LineOf>
  );
}
