import { OPERATIONS, type Reply } from "./recorder.ts";
import { LIVE, type Scene, textIn } from "./scene.ts";

const DAY = 24 * 3_600_000;
const PAGES_MAX = 3;

const listOf = (text: string): string[] => text.trim().split(/\s+/);

const LISTS = listOf(`
  /manage/v1/members /manage/v1/tokens /manage/v1/projects /manage/v1/audit /manage/v1/audit?action=token
  api-keys audit audit?action=plan audit?actor=system pools features features?archived=true plans event-keys
  event-keys?named=false customers customers?plan=pro customers?blocked=true customers?balanceBelow=50
  customers?search=imp events events?event=jobs.done&metadata=region%3Deu requests?status=4xx
  requests?reason=insufficient_credits`);

const CUSTOMER_LISTS = listOf(`
  ledger ledger?kind=consume ledger?kind=expire ledger?feature=image.render grants plans denials events`);

const SINGLE = listOf(`
  /manage/v1/health /manage/v1/workspace /manage/v1/session /manage/v1/projects/1 /manage/v1/search?q=c-1
  /manage/v1/members/1/access search?q=key-1 search?q=imported catalog plans/pro plans/pro?before=2
  features/image.render requests/summary?hours=168 usage/totals usage/totals?customerId=c-2
  usage/decisions?bucket=day usage/decisions?feature=image.render&bucket=hour usage/customers?source=charges
  usage/customers?source=events&by=count&limit=3 usage/customers?source=denials
  usage?source=events&groupBy=event usage?source=charges&groupBy=feature&timeZone=Europe/Berlin
  usage?source=charges&groupBy=customer&limit=3&by=quantity
  usage?source=charges&groupBy=metadata&metadataField=region usage?source=denials&groupBy=reason&bucket=month
  usage?source=events&customerId=c-3&bucket=hour usage?source=charges&pool=video months/2027-01 months/2027-02
  months/2030-01`);

/** Reads the first pages of every list, every single resource, and usage. Called when the jobs have caught up. */
export async function readAll(scene: Scene): Promise<void> {
  for (const path of LISTS) await readPages(scene, path);
  for (const path of SINGLE) await scene.manage("GET", path, undefined, { token: tokenFor(scene, path) });
  const from = scene.at(-6 * DAY).slice(0, 14);
  const to = scene.at(0).slice(0, 14);
  await scene.manage("GET", `usage?source=charges&bucket=hour&from=${from}15:00Z&to=${to}00:00Z`);
  await scene.manage("GET", `usage/customers?source=charges&from=${from}15:00Z&to=${to}00:00Z`);
  await scene.manage("GET", `usage/totals?from=${from}07:00Z`);
  for (const customer of ["c-1", "c-2", "c-3", "nobody"]) {
    await scene.manage("GET", `customers/${customer}`);
    for (const list of CUSTOMER_LISTS) await readPages(scene, `customers/${customer}/${list}`);
    for (const path of ["proof", "requests?limit=200"])
      await scene.manage("GET", `customers/${customer}/${path}`);
    await scene.manage("GET", `customers/${customer}/balance-history?bucket=day`);
  }
  await readOneOfEach(scene);
}

/** Reads an event, denials and keys by the IDs found in lists. */
async function readOneOfEach(scene: Scene): Promise<void> {
  const events = await scene.manage("GET", "events?limit=1");
  await scene.manage("GET", `events/${textIn(events.body, "items", 0, "eventId")}`);
  for (const customer of ["c-1", "c-2", "c-3", "c-4", "c-5", "c-6"]) {
    const denials = await scene.manage("GET", `customers/${customer}/denials?limit=1`);
    await scene.manage("GET", `denials/${textIn(denials.body, "items", 0, "denialId")}`);
    await scene.manage("GET", `keys/${textIn(denials.body, "items", 0, "idempotencyKey")}`);
    const consumes = await scene.manage("GET", `customers/${customer}/ledger?kind=consume&limit=1`);
    await scene.manage("GET", `keys/${textIn(consumes.body, "items", 0, "idempotencyKey")}`);
  }
  await scene.manage("GET", "keys/event-40");
}

/** Reads complete exports, and resumes each from a row in the middle. */
export async function exportAll(scene: Scene): Promise<void> {
  for (const kind of ["events", "charges", "ledger", "grants"]) {
    await scene.manage("GET", `exports/${kind}?format=csv`);
    const path = `exports/${kind}?format=ndjson&from=${scene.at(-30 * DAY)}`;
    const rows = (await scene.manage("GET", path)).text.split("\n");
    const row = rows[Math.floor(rows.length / 2)] ?? "";
    await scene.manage("GET", `${path}&cursor=${cursorOf(row)}`);
  }
  await scene.manage("GET", "/manage/v1/audit/export?projectId=1&environment=live");
  await scene.manage("GET", "/manage/v1/audit/export?action=token");
}

/** Calls every operation without a credential, as a viewer, in an unknown project, and with invalid parameters and bodies. */
export async function callInvalidly(scene: Scene): Promise<void> {
  for (const { method, path } of OPERATIONS) {
    const fill = (project: string): string =>
      path
        .replace("{projectId}", project)
        .replace("{environment}", "live")
        .replaceAll(/\{\w+\}/g, "1");
    const body = method === "GET" || method === "DELETE" ? undefined : {};
    await scene.manage(method, fill("1"), body, { token: null });
    await scene.manage(method, `${fill("1")}?nonsense=1`, body);
    if (method !== "GET") await scene.manage(method, fill("1"), body, { token: scene.tokens.viewer });
    if (path.includes("{projectId}")) await scene.manage(method, fill("99"), body);
    if (body !== undefined) await scene.manage(method, fill("1"), '{"a":', {});
  }
  await scene.manage("GET", `${LIVE}/nothing`);
  await scene.manage("PUT", "/v1/consume", {});
  await scene.manage("GET", "/manage/v1/session", undefined, { token: scene.tokens.short });
  await scene.manage("POST", "customers/c-1/credits", "credits", {
    headers: { "content-type": "text/plain" },
  });
}

async function readPages(scene: Scene, path: string): Promise<void> {
  const limited = `${path}${path.includes("?") ? "&" : "?"}limit=8`;
  const token = tokenFor(scene, path);
  const read = (query: string): Promise<Reply> =>
    scene.manage("GET", `${limited}${query}`, undefined, { token });
  let { body } = await read("");
  for (let page = 1; page < PAGES_MAX && textIn(body, "nextCursor") !== "missing"; page++) {
    ({ body } = await read(`&cursor=${textIn(body, "nextCursor")}`));
  }
}

/** Reads use the viewer's token, except that members' access needs the owner's token. */
function tokenFor({ tokens }: Scene, path: string): string {
  return path.endsWith("/access") ? tokens.owner : tokens.viewer;
}

function cursorOf(row: string): string {
  return /"cursor":"([^"]+)"/.exec(row)?.[1] ?? "missing";
}
