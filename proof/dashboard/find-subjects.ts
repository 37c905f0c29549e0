import type { Caller } from "../harness/caller.ts";
import type { Subjects } from "./pages.ts";

type Where = { readonly projectId: string; readonly environment: "test" | "live" };

type Line = Readonly<Record<string, unknown>>;

/** Something for each page to be about: a customer who was denied, the key of that request, a plan. What is not there is left out. */
export async function findSubjects(caller: Caller, { projectId, environment }: Where): Promise<Subjects> {
  const list = async (path: string): Promise<Line[]> => (await caller.get<{ items: Line[] }>(path)).items;
  const [plan] = await list("plans?archived=false");
  const { customerId, denials } = await findDenied(list);
  const keyed = denials.find(({ idempotencyKey }) => idempotencyKey !== null);
  const found = {
    customerId,
    key: text(plan?.["key"]),
    denialId: text(denials[0]?.["denialId"]),
    idempotencyKey: text(keyed?.["idempotencyKey"]),
  };
  const there = Object.entries(found).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  return { projectId, environment, ...Object.fromEntries(there) };
}

/** Of who was denied lately; else of whoever was denied at all; else of anybody. */
async function findDenied(
  list: (path: string) => Promise<Line[]>,
): Promise<{ customerId: string | undefined; denials: Line[] }> {
  const lately = (await list("requests?status=200&limit=200")).filter(({ reason }) => reason !== null);
  const customers = await list("customers?limit=200");
  const ids = [...lately, ...customers].flatMap(({ customerId }) => text(customerId) ?? []);
  for (const customerId of ids) {
    const denials = await list(`customers/${encodeURIComponent(customerId)}/denials`);
    if (denials.length > 0) return { customerId, denials };
  }
  return { customerId: ids[0], denials: [] };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
