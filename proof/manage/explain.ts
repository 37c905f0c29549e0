export type Explained = {
  /** The statements of one call, each with the indexes that it used. */
  readonly statements: readonly string[];
  /** Tables read by a sequential scan, with the estimated number of rows. */
  readonly wholeTables: readonly { readonly table: string; readonly rows: number }[];
};

type Plan = {
  readonly "Node Type": string;
  readonly "Index Name"?: string;
  readonly "Relation Name"?: string;
  readonly "Plan Rows": number;
  readonly Plans?: readonly Plan[];
};

/** Small tables that every call reads for authentication and the catalog. */
const OF_EVERY_CALL = /^(management_tokens|sessions|places|catalogs|clock|workspaces|projects)\./;
const MARK = "plan:\n";

/** Parses the plans that auto_explain wrote to the server's log. */
export function describePlans(log: string): Explained {
  const statements: string[] = [];
  const wholeTables: { table: string; rows: number }[] = [];
  for (const line of log.split("\n")) {
    if (line === "") continue;
    const { message = "" }: { message?: string } = JSON.parse(line);
    const at = message.indexOf(MARK);
    if (at < 0) continue;
    const { "Query Text": text, Plan: plan }: { "Query Text": string; Plan: Plan } = JSON.parse(
      message.slice(at + MARK.length),
    );
    const name = /^\/\* (\S+) \*\//.exec(text)?.[1];
    if (name === undefined) continue;
    const nodes = flatten(plan);
    for (const node of nodes) {
      if (node["Node Type"] !== "Seq Scan") continue;
      wholeTables.push({ table: node["Relation Name"] ?? "", rows: node["Plan Rows"] });
    }
    if (!OF_EVERY_CALL.test(name)) statements.push(describe(name, nodes));
  }
  return { statements: [...new Set(statements)], wholeTables };
}

function describe(name: string, nodes: readonly Plan[]): string {
  const indexes = nodes.flatMap((node) => node["Index Name"] ?? []);
  const sorts = nodes.some((node) => node["Node Type"] === "Sort") ? " and a sort" : "";
  // Each partition of a table has its own index.
  const named = indexes.map((index) => index.replace(/_\d{4}_\d{2}_/, "_*_"));
  return `${name}: ${indexes.length === 0 ? "no index" : [...new Set(named)].join(", ")}${sorts}`;
}

function flatten(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(flatten)];
}
