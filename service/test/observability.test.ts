import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { PROBLEMS } from "../src/edge/problem.ts";
import { post, setup, startTestService } from "./harness.ts";
import { startOwnServer } from "./own-server.ts";

// Checks the alert rules and the dashboard in deploy/observability against the metrics of a running service.

const ROOT = join(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

type Rule = { alert: string; expr: string; annotations: { runbook_url: string } };
type Rules = { groups: { rules: Rule[] }[] };
type Dashboard = {
  panels: { title: string; targets?: { expr: string }[] }[];
  templating: { list: { name: string; query: string | { query: string } }[] };
};

const rules = (parse(read("deploy/observability/alerts.yaml")) as Rules).groups.flatMap(
  (group) => group.rules,
);
const dashboard = JSON.parse(read("deploy/observability/dashboard.json")) as Dashboard;

/** Every query, by the name of its alert, panel or variable. */
const queries: [where: string, text: string][] = [
  ...rules.map(({ alert, expr }): [string, string] => [alert, expr]),
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }): [string, string] => [title, expr]),
  ),
  ...dashboard.templating.list.flatMap(({ name, query }): [string, string][] =>
    typeof query === "string" ? [] : [[name, query.query.replace(/, \w+\)$/, ")")]],
  ),
];

const WORDS = new Set(
  `absent and avg_over_time by changes count histogram_quantile increase label_values max max_over_time min min_over_time offset on or
   rate sum time unless vector`.split(/\s+/),
);
/** Prometheus adds these itself. */
const OWN_METRICS = ["up"];
const OWN_LABELS = ["job", "instance"];

/** Everything in a query that is not known syntax is treated as a metric. */
function metricsOf(query: string): string[] {
  const bare = query.replace(/\{[^}]*\}|\[[^\]]*\]|\b(by|on) \([^)]*\)|\boffset \w+/g, " ");
  return (bare.match(/[a-zA-Z_:][\w:]*/g) ?? []).filter((word) => !WORDS.has(word));
}

type Selector = { metric: string; label: string; value: string };

function selectorsOf(query: string): Selector[] {
  return [...query.matchAll(/([a-zA-Z_:][\w:]*)\{([^}]*)\}/g)].flatMap(([, metric = "", inside = ""]) =>
    [...inside.matchAll(/(\w+)(?:=~|!~|!=|=)"([^"]*)"/g)].map(([, label = "", value = ""]) => ({
      metric,
      label,
      value,
    })),
  );
}

/** The names in a scrape, including the names that a histogram implies. */
function namesIn(scrape: string): Set<string> {
  return new Set(
    [...scrape.matchAll(/^# TYPE (\S+) (\w+)$/gm)].flatMap(([, name = "", type]) =>
      type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
}

async function scrapeAfterUse(): Promise<string> {
  const { service, project, record } = await setup();
  const scrape = async () => (await fetch(`${service.metricsUrl}/metrics`)).text();
  expect((await record({ customerId: "ada", event: "visit", quantity: 1 })).status).toBe(200);
  expect((await post(`${service.url}/v1/check`, project.test.key.secret, {})).status).toBe(400);
  await expect.poll(scrape).toMatch(/^purser_job_last_success_timestamp_seconds\{name="usage"\}/m);
  return scrape();
}

test("every metric and label in the alert rules and the dashboard is in /metrics", async () => {
  const scrape = await scrapeAfterUse();
  const names = namesIn(scrape);
  for (const name of OWN_METRICS) names.add(name);
  const missing = queries.flatMap(([where, query]) =>
    metricsOf(query)
      .filter((name) => !names.has(name))
      .map((name) => `${where}: ${name}`),
  );
  expect(missing).toEqual([]);

  const wrong = queries.flatMap(([where, query]) =>
    selectorsOf(query)
      .filter(({ metric, label }) => {
        // A metric without samples, such as a counter that is still empty, shows no labels.
        const samples = scrape.match(new RegExp(`^${metric}(\\{.*| .*)$`, "gm")) ?? [];
        return samples.length > 0 && !OWN_LABELS.includes(label) && !samples[0]?.includes(`${label}="`);
      })
      .map(({ metric, label }) => `${where}: ${metric}{${label}}`),
  );
  expect(wrong).toEqual([]);
  expect(queries.length).toBeGreaterThan(40);
});

test("every metric of the service is in an alert rule or the dashboard", async () => {
  const used = queries.flatMap(([, query]) => metricsOf(query)).map(withoutSuffix);
  const ours = [...namesIn(await scrapeAfterUse())].filter((name) => name.startsWith("purser_"));
  expect(ours.filter((name) => !used.includes(withoutSuffix(name)))).toEqual([]);
});

function withoutSuffix(name: string): string {
  return name.replace(/_(bucket|sum|count)$/, "");
}

test("metrics show the connection pools, and whether the database is reachable", async () => {
  const server = await startOwnServer();
  const { metricsUrl } = await startTestService(server.database);
  const read = async () => (await fetch(`${metricsUrl}/metrics`)).text();
  await expect.poll(read).toMatch(/^purser_job_last_success_timestamp_seconds\{name="usage"\}/m);
  const text = await read();
  expect(text).toMatch(/^purser_database_up 1$/m);
  expect(text).toMatch(/^purser_pool_connections\{pool="jobs"\} [1-4]$/m);
  expect(text).toMatch(/^purser_pool_connections_idle\{pool="jobs"\} [0-4]$/m);
  expect(text).toMatch(/^purser_pool_connections_max\{pool="manage"\} 8$/m);
  expect(text).toMatch(/^purser_pool_waiting\{pool="keys"\} 0$/m);
  expect(text).toMatch(/^purser_job_last_success_timestamp_seconds\{name="partitions"\} \d{10}/m);
  await server.crash();
  await expect.poll(read).toMatch(/^purser_database_up 0$/m);
  await server.restart();
  await expect.poll(read).toMatch(/^purser_database_up 1$/m);
});

test("every error code in a rule is a code of the API", () => {
  const codes = queries.flatMap(([, query]) => selectorsOf(query)).filter(({ label }) => label === "code");
  expect(codes.length).toBeGreaterThan(3);
  expect(codes.filter(({ value }) => value !== "" && !(value in PROBLEMS))).toEqual([]);
});

test("every alert has a section in the runbook, and every section belongs to an alert", () => {
  const sections = [...read("docs/operations/alerts.md").matchAll(/^## (Purser\w+)$/gm)].map(
    ([, name]) => name,
  );
  expect(sections.sort()).toEqual(rules.map(({ alert }) => alert).sort());
  for (const { alert, annotations } of rules)
    expect(annotations.runbook_url).toBe(`docs/operations/alerts.md#${alert.toLowerCase()}`);
});
