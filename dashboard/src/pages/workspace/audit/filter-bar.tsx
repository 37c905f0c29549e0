import { useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useLocation } from "@tanstack/react-router";
import { projectsQuery } from "../../../api/projects.ts";
import { Select, TextField } from "../../../ui/field.tsx";
import { FilterField } from "../../../ui/filter-field.tsx";
import { membersQuery, tokensQuery } from "../queries.ts";
import { ACTIONS, readAuditFilters } from "./audit-filters.ts";
import type { Entry } from "./entry.ts";

const route = getRouteApi("/signed-in/workspace/audit");

/** Shows what is asked for at once, also while the answer is on its way: whoever sets one filter after the other loses none. */
export function FilterBar({
  entries,
}: {
  /** Of whom some may be gone: their names stand in what they did. */
  entries: readonly Entry[];
}) {
  const { data: projects } = useSuspenseQuery(projectsQuery);
  const navigate = route.useNavigate();
  const filters = readAuditFilters(useLocation({ select: ({ search }) => search }));
  const set = (change: Record<string, unknown>): void =>
    void navigate({ search: (before) => readAuditFilters({ ...before, ...change }), replace: true });
  const place = filters.projectId === undefined ? "" : `${filters.projectId}/${filters.environment}`;
  return (
    <search className="grid grid-cols-2 items-end gap-3 lg:grid-cols-[1fr_1fr_1fr_1fr_auto_auto]">
      <FilterField
        isLabelShown
        type="search"
        label="Customer"
        placeholder="The whole id"
        value={filters.customerId ?? ""}
        onFilter={(customerId) => set({ customerId })}
      />
      <Select
        label="Who"
        options={useActorOptions(filters.actor, entries)}
        value={filters.actor ?? ""}
        onChange={({ target }) => set({ actor: target.value })}
      />
      <Select
        label="What"
        options={withUnknown([{ value: "", label: "Everything" }, ...ACTIONS], filters.action)}
        value={filters.action ?? ""}
        onChange={({ target }) => set({ action: target.value })}
      />
      <Select
        label="Where"
        options={[
          { value: "", label: "Everywhere" },
          ...projects.flatMap(({ id, name }) => [
            { value: `${id}/test`, label: `${name}, test` },
            { value: `${id}/live`, label: `${name}, LIVE` },
          ]),
        ]}
        value={place}
        onChange={({ target }) => {
          const [projectId, environment] = target.value.split("/");
          set({ projectId, environment });
        }}
      />
      <Day label="From (UTC)" value={filters.from} onChange={(from) => set({ from })} />
      <Day label="To (UTC)" value={filters.to} onChange={(to) => set({ to })} />
    </search>
  );
}

function Day({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string | undefined;
  onChange: (day: string) => void;
}) {
  return (
    <TextField
      label={label}
      type="date"
      value={value ?? ""}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

function useActorOptions(chosen: string | undefined, entries: readonly Entry[]) {
  const members = useSuspenseInfiniteQuery(membersQuery).data.pages.flatMap(({ items }) => items);
  const tokens = useSuspenseInfiniteQuery(tokensQuery).data.pages.flatMap(({ items }) => items);
  const known = [
    { value: "", label: "Everybody" },
    ...members.map(({ id, name }) => ({ value: `member:${id}`, label: name })),
    ...tokens.map(({ id, name }) => ({ value: `token:${id}`, label: `Token ${name}` })),
    { value: "command", label: "Commands on the server" },
    { value: "system", label: "Purser itself" },
  ];
  const gone = entries.find(({ actor }) => `${actor.kind}:${actor.id}` === chosen)?.actor.name;
  return withUnknown(known, chosen, gone ?? undefined);
}

type Option = { value: string; label: string };

/** What stands in the address is shown, whether or not it is offered. */
function withUnknown(options: readonly Option[], chosen: string | undefined, label = chosen): Option[] {
  if (chosen === undefined || options.some(({ value }) => value === chosen)) return [...options];
  return [...options, { value: chosen, label: label ?? chosen }];
}
