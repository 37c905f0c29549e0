import { BUSY } from "../harness/fill-customers.ts";
import type { Project } from "../harness/project.ts";

/** One kind of call. Each call uses another customer or page of the list, by its number. A call with a body is a POST. */
export type Page = {
  readonly name: string;
  readonly path: (call: number) => string;
  readonly body?: (call: number) => object;
  /** The limit in milliseconds, if it differs from the default. */
  readonly p95MsMax?: number;
  /** Whether the call reads all customer IDs or all wallets of the environment. The balance has no index. */
  readonly readsAll?: boolean;
};

const SCAN = { p95MsMax: 300, readsAll: true } as const;

export type World = {
  readonly project: Project;
  readonly customers: number;
  /** Every `nextCursor` in the customer list. */
  readonly cursors: readonly string[];
};

/** All filters, searches and pages of the customer list. */
export function customerPages({ project, customers, cursors }: World): Page[] {
  const list = `${project.here}/customers`;
  const any = (call: number): number => (call * 7_919) % customers;
  const cursor = (call: number): string => cursors[(call * 104_729) % cursors.length] ?? "";
  const page = (name: string, query: (call: number) => string): Page => ({
    name: `customers, ${name}`,
    path: (call) => `${list}?${query(call)}`,
  });
  const search = (name: string, text: (call: number) => string): Page => ({
    ...page(`search ${name}`, (call) => `search=${encodeURIComponent(text(call))}`),
    ...SCAN,
  });
  return [
    page("first page", () => ""),
    page("first 200", () => "limit=200"),
    page("deep page", (call) => `cursor=${cursor(call)}`),
    search("by id", (call) => `customer_${any(call)}`),
    search("by name", (call) => `COMPANY ${any(call)}`),
    search("by email", (call) => `billing${any(call)}@ex`),
    search("by billing reference", (call) => `cus_${any(call)}`),
    search("without a match", (call) => `nobody-${call}`),
    search("by id that matches all", () => "c"),
    search("by email that matches all", () => "billing"),
    search("that matches a tenth", (call) => `customer_${1 + (call % 9)}`),
    ...[
      page("search that matches all, deep page", (call) => `search=customer&cursor=${cursor(call)}`),
      page("search that matches a tenth, deep page", (call) => `search=company%201&cursor=${cursor(call)}`),
    ].map((deep) => ({ ...deep, ...SCAN })),
    page("on a common plan", () => "plan=pro"),
    page("on a rare plan", () => "plan=free"),
    page("on a rare plan, deep page", (call) => `plan=free&cursor=${cursor(call)}`),
    page("on an unknown plan", () => "plan=none"),
    page("balance below, many", () => "balanceBelow=1500"),
    page("balance below, few", () => "balanceBelow=5"),
    page("balance below, none, deep page", (call) => `balanceBelow=0&cursor=${cursor(call)}`),
    page("blocked, none", () => "blocked=true"),
    { ...page("search and plan", (call) => `search=customer_${any(call)}&plan=pro`), ...SCAN },
    search("part of a name", (call) => `pany ${any(call)}`),
    search("part of an email", (call) => `ling${any(call)}@example`),
    search("part that matches all", () => "ompan"),
    search("part without a match", (call) => `obody-${call}`),
    search("part without a trigram", (call) => `@e${call}`),
    {
      name: "bulk preview of 200 selected customers",
      path: () => `${project.here}/bulk-assignments/preview`,
      body: (call) => ({
        filter: { customerIds: Array.from({ length: 200 }, (_, i) => `customer_${any(call + i)}`) },
        plan: "pro",
      }),
    },
    ...(["name_asc", "name_desc", "balance_asc", "balance_desc", "oldest"] as const).flatMap((sort) =>
      [
        page(`sorted by ${sort}`, () => `sort=${sort}&limit=200`),
        page(
          `sorted by ${sort}, deep page`,
          (call) => `sort=${sort}&cursor=${sortedCursor(sort, any(call))}`,
        ),
        page(`sorted by ${sort}, search`, (call) => `sort=${sort}&search=pany ${any(call)}`),
        page(`sorted by ${sort}, search that matches all`, () => `sort=${sort}&search=ompan`),
        page(`sorted by ${sort}, on a rare plan`, () => `sort=${sort}&plan=free`),
      ].map((sorted) => ({
        ...sorted,
        ...(sort.startsWith("balance") || sorted.name.includes("search") ? SCAN : {}),
      })),
    ),
  ];
}

/** Lists on Home that compare all customers. */
export function homePages({ project: { here } }: World): Page[] {
  const page = (name: string, path: string): Page => ({
    name: `Home, ${name}`,
    path: () => `${here}/${path}`,
    ...SCAN,
  });
  return [
    page("running out this week", "forecasts?days=7&limit=7"),
    page("running out, all", "forecasts?limit=200"),
    page("low balances, few", "forecasts?sort=balance&balanceBelow=5&limit=7"),
    page("low balances, many", "forecasts?sort=balance&balanceBelow=1500&limit=7"),
    page("lowest balances", "customers?sort=balance&balanceBelow=1500&limit=50"),
  ];
}

/** The cursor after customer `n` of the file, in the API's format. */
function sortedCursor(sort: string, n: number): string {
  const key = sort.startsWith("name")
    ? [`company ${n}`]
    : sort.startsWith("balance")
      ? [1 + (n % 1_000)]
      : [];
  return Buffer.from(JSON.stringify([...key, n])).toString("base64url");
}

type Document = { readonly paths: Readonly<Record<string, { readonly get?: Get }>> };
type Get = { readonly parameters?: readonly { readonly name: string; readonly in: string }[] };

const KNOWN = /\{(projectId|environment|customerId)\}/;

/** All other GET operations of the service's OpenAPI document, for the customer with a long history. */
export function otherPages(document: Document, { project }: World): { pages: Page[]; left: string[] } {
  const pages: Page[] = [];
  const left: string[] = [];
  for (const [path, { get }] of Object.entries(document.paths)) {
    // `customerPages` and `homePages` measure these paths.
    if (get === undefined || /\/(customers|forecasts)$/.test(path)) continue;
    // Skips exports and proofs, because they are not pages: they read all rows.
    if (/\/(exports?|proof)(\/|$)/.test(path)) {
      left.push(path);
      continue;
    }
    const filled = path
      .replace("/manage/v1/projects/{projectId}/{environment}", project.here)
      .replace("{projectId}", String(project.context.projectId))
      .replace("{customerId}", BUSY);
    const name = path
      .replace("/manage/v1/projects/{projectId}/{environment}/", "")
      .replace("/manage/v1/", "/");
    if (filled.includes("{") || (KNOWN.test(path) && filled === path)) left.push(path);
    else if ((get.parameters ?? []).some((parameter) => parameter.name === "q")) {
      pages.push({ name: `${name} by customer`, path: (call) => `${filled}?q=customer_${call}` });
      pages.push({ name: `${name} by payment`, path: (call) => `${filled}?q=pay_${call % 300}`, ...SCAN });
      pages.push({ name: `${name} that matches all`, path: () => `${filled}?q=c` });
    } else pages.push({ name, path: () => filled });
  }
  return { pages, left };
}
