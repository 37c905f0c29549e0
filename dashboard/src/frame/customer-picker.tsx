import { Combobox } from "@base-ui/react/combobox";
import { keepPreviousData, queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useDeferredValue, useId, useRef, useState } from "react";
import { type Scope, scopeOf } from "../api/answer.ts";
import { answerOf, api } from "../api/client.ts";
import { classNames } from "../ui/class-names.ts";
import { FieldFrame, type FieldText, fieldAttributes, fieldEdge, GROUP_BOX } from "../ui/field.tsx";
import { MENU_POPUP } from "../ui/menu.tsx";
import { FoundText } from "./found-text.tsx";
import type { FoundCustomer } from "./search-everything.ts";
import { useScope } from "./use-scope.ts";

const SEARCH_PATH = "/manage/v1/projects/{projectId}/{environment}/search";

/** Only the ID is known if the customer is new or not loaded yet. */
export type PickedCustomer = Pick<FoundCustomer, "customerId" | "name"> & Partial<FoundCustomer>;

/**
 * Finds a customer by part of a name, email, billing reference or ID, with the same search as Ctrl K. Shows the name and the ID.
 */
export function CustomerPicker({
  scope,
  customerId,
  onChoose,
  allowsNew = false,
  isFilter = false,
  isRequired = false,
  placeholder = "Name, email or ID",
  ...text
}: FieldText & {
  /** The environment to search. Null searches all environments. */
  scope: Scope | null;
  /** Empty if no customer is chosen. */
  customerId: string;
  /** Called with null if the field is cleared. */
  onChoose: (customer: PickedCustomer | null) => void;
  /** Accepts an ID that does not exist yet. */
  allowsNew?: boolean;
  /** The key / focuses the field. */
  isFilter?: boolean;
  isRequired?: boolean;
  placeholder?: string;
}) {
  const id = useId();
  const { typed, setTyped, items, isOld, isSearched, findFirst } = useCustomerSearch(scope, allowsNew);
  const [last, setLast] = useState<PickedCustomer | null>(null);
  const chosen = useChosen(scope, customerId, last);
  function choose(customer: PickedCustomer | null): void {
    setTyped(null);
    setLast(customer);
    onChoose(customer);
  }
  const highlighted = useRef<PickedCustomer | undefined>(undefined);
  /** Chooses the highlighted customer, or the best match for text whose results are not shown yet. */
  async function chooseBest(): Promise<void> {
    const best = isOld ? await findFirst() : (highlighted.current ?? items[0]);
    if (best !== undefined) choose(best);
  }
  return (
    <Combobox.Root<PickedCustomer>
      items={items}
      filter={null}
      value={chosen}
      inputValue={typed ?? (chosen === null ? "" : (chosen.name ?? chosen.customerId))}
      onInputValueChange={(value, { reason }) => {
        if (reason === "input-change") setTyped(value);
      }}
      onValueChange={choose}
      // Base UI's popup would hide the rest of the page from screen readers while it is open.
      inline
      open={typed !== null}
      itemToStringLabel={({ name, customerId: named }) => name ?? named}
      isItemEqualToValue={(a, b) => a.customerId === b.customerId && a.environment === b.environment}
      autoHighlight
      onItemHighlighted={(customer) => {
        highlighted.current = customer;
      }}
    >
      <FieldFrame id={id} text={text}>
        <Combobox.InputGroup className={classNames(GROUP_BOX, "relative", fieldEdge(text))}>
          <Combobox.Input
            {...fieldAttributes(id, text)}
            aria-expanded={typed !== null}
            data-filter={isFilter || undefined}
            required={isRequired}
            maxLength={255}
            autoComplete="off"
            spellCheck={false}
            placeholder={placeholder}
            title={chosen?.name == null ? undefined : `${chosen.name} (${chosen.customerId})`}
            onKeyDown={(event) => {
              if (typed === null) return;
              if (event.key === "Escape") {
                // Closes the list, not the dialog around it.
                event.stopPropagation();
                setTyped(null);
              } else if (event.key === "Enter" && isSearched) {
                event.preventDefault();
                event.preventBaseUIHandler();
                void chooseBest();
              }
            }}
            onBlur={() => {
              const named = typed?.trim() ?? "";
              if (allowsNew && named !== "") choose({ customerId: named, name: null });
              else setTyped(null);
            }}
            className="h-full min-w-0 flex-1 truncate rounded-md bg-transparent px-2.5 outline-none placeholder:text-muted"
          />
          {typed === null && chosen?.name != null && (
            <code className="max-w-28 truncate font-mono text-caption text-muted">{chosen.customerId}</code>
          )}
          <Combobox.Clear
            aria-label={`Clear ${text.label.toLowerCase()}`}
            className="inline-flex size-7 shrink-0 items-center justify-center rounded-md text-muted hover:text-ink"
          >
            <X className="size-3.5" aria-hidden />
          </Combobox.Clear>
          {typed !== null && (
            <Results scope={scope} isOld={isOld} isSearched={isSearched} count={items.length} />
          )}
        </Combobox.InputGroup>
      </FieldFrame>
    </Combobox.Root>
  );
}

/** The matches, below the field. */
function Results({
  scope,
  isOld,
  isSearched,
  count,
}: {
  scope: Scope | null;
  isOld: boolean;
  isSearched: boolean;
  count: number;
}) {
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a press must not take the focus from the field
    <div
      onMouseDown={(event) => event.preventDefault()}
      aria-busy={isOld}
      className={classNames(
        MENU_POPUP,
        "absolute top-full -left-px z-20 mt-1 w-max max-w-96 min-w-full max-sm:w-full",
      )}
    >
      {count === 0 && (
        <p className="px-2 py-1.5 text-body text-muted">
          {!isSearched ? "Type a name, email or ID." : isOld ? "Searching…" : "No customer found."}
        </p>
      )}
      <Combobox.List className={classNames("max-h-56 overflow-y-auto", isOld && "opacity-50")}>
        {(customer: PickedCustomer) => (
          <Combobox.Item
            key={`${customer.projectId} ${customer.environment} ${customer.customerId}`}
            value={customer}
            className="flex min-h-9 items-center gap-3 rounded-md px-2 py-1 outline-none select-none data-highlighted:bg-hover"
          >
            <FoundText
              title={customer.name ?? customer.customerId}
              note={noteOf(customer, scope)}
              environment={scope === null ? (customer.environment ?? null) : null}
            />
          </Combobox.Item>
        )}
      </Combobox.List>
    </div>
  );
}

function noteOf(
  { name, customerId, email, billingReference, projectName }: PickedCustomer,
  scope: Scope | null,
) {
  if (email === undefined) return "New customer ID";
  const parts = [
    name === null ? null : customerId,
    email,
    billingReference,
    scope === null ? projectName : null,
  ];
  return parts.filter(Boolean).join(" · ");
}

/** The customers that match a text, best matches first. */
function customersQuery(scope: Scope | null, text: string) {
  const query = { q: text };
  return queryOptions({
    queryKey: ["get", SEARCH_PATH, scope, query],
    queryFn: async (): Promise<FoundCustomer[]> => {
      const answer =
        scope === null
          ? api.GET("/manage/v1/search", { params: { query } })
          : api.GET(SEARCH_PATH, { params: { path: scopeOf(scope), query } });
      return (await answerOf(answer)).customers;
    },
    enabled: text !== "",
    meta: { showsOwnErrors: true },
  });
}

/** Filters a list by one customer. */
export function CustomerFilter({
  customerId = "",
  onChange,
}: {
  customerId: string | undefined;
  /** Undefined for all customers. */
  onChange: (customerId: string | undefined) => void;
}) {
  return (
    <div className="w-64 max-md:w-full">
      <CustomerPicker
        label="Customer"
        isLabelHidden
        isFilter
        placeholder="Customer name, email or ID"
        scope={useScope()}
        customerId={customerId}
        onChoose={(customer) => onChange(customer?.customerId)}
      />
    </div>
  );
}

/** The text that the user types, and the customers that match it. `typed` is null while the field shows the chosen customer. */
function useCustomerSearch(scope: Scope | null, allowsNew: boolean) {
  const queryClient = useQueryClient();
  const [typed, setTyped] = useState<string | null>(null);
  const text = typed?.trim() ?? "";
  const wanted = useDeferredValue(text);
  const { data, isPlaceholderData, isFetching } = useQuery({
    ...customersQuery(scope, wanted),
    placeholderData: keepPreviousData,
  });
  const found: readonly PickedCustomer[] = wanted === "" ? [] : (data ?? []);
  const isNew = allowsNew && wanted !== "" && found.every(({ customerId }) => customerId !== wanted);
  return {
    typed,
    setTyped,
    items: isNew ? [...found, { customerId: wanted, name: null }] : found,
    isSearched: text !== "",
    isOld: text !== wanted || isPlaceholderData || (isFetching && data === undefined),
    async findFirst(): Promise<PickedCustomer | undefined> {
      const [first] = await queryClient.fetchQuery(customersQuery(scope, text));
      return first ?? (allowsNew ? { customerId: text, name: null } : undefined);
    },
  };
}

/** The name of a customer in the URL, or the ID if the customer has no name or is not loaded yet. */
export function useCustomerName(scope: Scope, customerId: string): string {
  return useChosen(scope, customerId, null)?.name ?? customerId;
}

/** The chosen customer. If the name is not known from the choice, it is looked up. */
function useChosen(
  scope: Scope | null,
  customerId: string,
  last: PickedCustomer | null,
): PickedCustomer | null {
  const { data } = useQuery(customersQuery(scope, customerId));
  if (customerId === "") return null;
  const found = data?.find((customer) => customer.customerId === customerId);
  return found ?? (last?.customerId === customerId ? last : { customerId, name: null });
}
