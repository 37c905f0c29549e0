import type { Subjects } from "./pages.ts";

type Where = {
  readonly url: string;
  readonly token: string;
  readonly projectId: string;
  readonly environment: "test" | "live";
};

type Line = Readonly<Record<string, unknown>>;

/** Something for each page to be about: a customer who was denied, the key of that request, a plan. What is not there is left out. */
export async function findSubjects(where: Where): Promise<Subjects> {
  const { projectId, environment } = where;
  const list = (path: string): Promise<Line[]> => listOf(where, path);
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

async function listOf({ url, token, projectId, environment }: Where, path: string): Promise<Line[]> {
  const address = `${url}/manage/v1/projects/${projectId}/${environment}/${path}`;
  const response = await fetch(address, { headers: { authorization: `Bearer ${token}` } });
  if (response.status !== 200) throw new Error(`${address} was answered with ${await response.text()}`);
  const { items }: { items: Line[] } = JSON.parse(await response.text());
  return items;
}
