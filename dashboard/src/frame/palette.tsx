import { Autocomplete } from "@base-ui/react/autocomplete";
import { Dialog } from "@base-ui/react/dialog";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useDeferredValue, useState } from "react";
import { ProblemCallout } from "../ui/callout.tsx";
import { classNames } from "../ui/class-names.ts";
import { findLastFocused } from "../ui/dialog.tsx";
import { Kbd } from "../ui/kbd.tsx";
import { FoundText } from "./found-text.tsx";
import { takeEarlyKeys } from "./keyboard.ts";
import {
  actionsAsFound,
  type CustomerAction,
  customersFor,
  environmentSearchQuery,
  type Found,
  type FoundGroup,
  findingsOf,
  searchQuery,
  sectionsAsFound,
} from "./search-everything.ts";
import { useMayActAs, useOptionalScope, useSession } from "./use-scope.ts";

/** Searches customers, payments, keys and charges in all projects and environments. Also finds pages and actions. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const [action, setAction] = useState<CustomerAction | null>(null);
  const may = { operate: useMayActAs("operator"), administer: useMayActAs("admin") };
  const wanted = useDeferredValue(text.trim());
  const scope = useOptionalScope();
  const session = useSession();
  const navigate = useNavigate();
  const isSearched = wanted.length > 1;
  const everywhere = useQuery({ ...searchQuery(wanted), enabled: isSearched && action === null });
  const here = useQuery({
    ...environmentSearchQuery(wanted, scope ?? { projectId: "", environment: "test" }),
    enabled: isSearched && action !== null && scope !== null,
  });
  const { data, error, isFetching, isPlaceholderData } = action === null ? everywhere : here;
  // Results of the previous text stay visible but cannot be opened.
  const isOld = isPlaceholderData || wanted !== text.trim();
  const findings =
    data === undefined || !isSearched
      ? []
      : action !== null && scope !== null
        ? customersFor(action, data, scope)
        : findingsOf(data);
  const actions = actionsAsFound(text.trim(), scope, may);
  // If the title of an action starts with the text, select the action without waiting for the search.
  const isAction = actions.some(({ items }) =>
    items.some(({ title }) => title.toLowerCase().startsWith(text.trim().toLowerCase())),
  );
  const groups: FoundGroup[] =
    action !== null
      ? findings
      : [
          ...(isAction ? [...actions, ...findings] : [...findings, ...actions]),
          ...sectionsAsFound(text.trim(), scope, session),
        ];
  function open(found: Found): void {
    if (isOld && findings.some(({ items }) => items.includes(found))) return;
    if (found.action !== undefined) {
      setAction(found.action);
      setText("");
      return;
    }
    onClose();
    void navigate(found.link);
  }
  return (
    <Dialog.Root open modal="trap-focus" onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop data-backdrop className="fixed inset-0 z-40 bg-scrim" />
        <Dialog.Viewport className="fixed inset-0 z-50 flex items-start justify-center p-3 pt-[12vh]">
          <Dialog.Popup
            aria-label="Search everything"
            finalFocus={findLastFocused}
            className="flex max-h-[70vh] w-full max-w-xl flex-col overflow-hidden rounded-xl border border-line bg-surface shadow-over"
          >
            <Autocomplete.Root
              open
              inline
              items={groups}
              filter={null}
              value={text}
              onValueChange={(value, { reason }) => {
                // Choosing an item opens it, so do not search for the name of that item.
                if (reason !== "item-press") setText(value);
              }}
              itemToStringValue={(found: Found) => found.title}
              autoHighlight="always"
              keepHighlight
            >
              <div className="flex items-center gap-2.5 border-b border-line px-4">
                <Search className="size-4 shrink-0 text-muted" aria-hidden />
                <Autocomplete.Input
                  onFocus={() => {
                    const early = takeEarlyKeys();
                    if (early !== "") setText((before) => before + early);
                  }}
                  aria-label="Search everything"
                  placeholder={
                    action?.question ?? "Customer, email, payment reference, idempotency key, charge…"
                  }
                  className="h-12 w-full bg-transparent text-form outline-none placeholder:text-muted"
                />
                <Kbd keys="Esc" />
              </div>
              {isSearched && error !== null && (
                <div className="p-3">
                  <ProblemCallout error={error} />
                </div>
              )}
              <Autocomplete.Empty>
                {groups.length === 0 && (error === null || !isSearched) && (
                  <p className="px-4 py-8 text-center text-muted">
                    {isFetching ? "Searching…" : "No results."}
                  </p>
                )}
              </Autocomplete.Empty>
              <Autocomplete.List
                aria-busy={isOld}
                className={classNames("overflow-y-auto p-1.5 empty:p-0", isOld && "opacity-50")}
              >
                {(group: FoundGroup) => (
                  <Autocomplete.Group key={group.value} items={group.items}>
                    <Autocomplete.GroupLabel className="px-2.5 pt-2 pb-1 text-caption font-medium text-muted">
                      {group.value}
                    </Autocomplete.GroupLabel>
                    <Autocomplete.Collection>
                      {(found: Found) => (
                        <Autocomplete.Item
                          key={found.id}
                          value={found}
                          onClick={() => open(found)}
                          className="flex min-h-9 items-center gap-3 rounded-md px-2.5 py-1 outline-none select-none data-highlighted:bg-hover"
                        >
                          <FoundText {...found} />
                        </Autocomplete.Item>
                      )}
                    </Autocomplete.Collection>
                  </Autocomplete.Group>
                )}
              </Autocomplete.List>
            </Autocomplete.Root>
          </Dialog.Popup>
        </Dialog.Viewport>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
