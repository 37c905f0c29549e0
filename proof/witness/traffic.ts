import { type Endpoint, MISSING, type Scene, TEST, textIn } from "./scene.ts";

const DAY = 24 * 3_600_000;
const CUSTOMERS = 24;

/** Invalid fields. */
const MISTAKES: readonly object[] = [
  { customerId: undefined },
  { customerId: "" },
  { customerId: "nul\0" },
  { feature: 7 },
  { feature: "unknown" },
  { quantity: 0 },
  { quantity: 1.5 },
  { quantity: 1_000_001 },
  { idempotencyKey: "a b" },
  { metadata: [] },
  { metadata: { a: { b: { c: { d: 1 } } } } },
  { metadata: { text: "x".repeat(2_001) } },
  { nonsense: true },
];

/** One consume request for each denial reason. */
const DENIED: readonly [customer: string, feature: string, quantity: number][] = [
  ["c-1", "image.render", 1_000],
  ["c-1", "export", 5],
  ["c-1", "beta.tool", 1],
  ["c-2", "image.render", 1],
  ["c-3", "image.render", 1],
  ["stranger", "image.render", 1],
];

type Body = Readonly<Record<string, unknown>>;
type Action = () => Promise<unknown>;

type Traffic = {
  /** Makes calls that depend on each other once, so that short runs include them. */
  begin(): Promise<void>;
  /** Makes about this many calls, in an order determined by the seed. */
  run(calls: number): Promise<void>;
};

/** Everyday calls, with IDs from earlier responses. */
export function openTraffic(scene: Scene): Traffic {
  const { run, at, upTo, isLucky, pick, tokens, recorder } = scene;
  const sent: { endpoint: Endpoint; body: Body }[] = [];
  const consumes: { customer: string; id: string }[] = [];
  const grants: { customer: string; grant: string }[] = [];
  const references: { customer: string; body: Body }[] = [];
  let count = 0;

  /** Calls `work` with one item of the list, or does nothing if the list is empty. */
  const withOne = async <T>(list: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> => {
    const one = list[upTo(list.length)];
    if (one !== undefined) await work(one);
  };
  const sometimes = (probability: number, body: () => Body): Body => (isLucky(probability) ? body() : {});
  const inDays = (from: number, to: number): string => at((from + upTo(to - from)) * DAY + 1);
  /** Prefers the first customers, so that they have several grants. A few are new. */
  const someone = (): string => (isLucky(0.97) ? `c-${1 + upTo(1 + upTo(CUSTOMERS))}` : `new-${count}`);
  const metadata = (): Body =>
    sometimes(0.4, () => ({ metadata: { region: pick("eu", "us", "ap"), job: count } }));
  const manage = (method: string, path: string, body?: unknown) =>
    scene.manage(method, `customers/${path}`, body, { token: pick(tokens.operator, tokens.narrow) });
  const question = (): Body => {
    const feature = pick(
      "image.render",
      "image.render",
      "text.generate",
      "export",
      "video.render",
      "beta.tool",
    );
    const quantity = isLucky(0.03) ? 1_000_000 : 1 + upTo(feature === "text.generate" ? 4_000 : 6);
    return { customerId: someone(), feature, quantity };
  };

  const consume = async (asked: Body = question()): Promise<string> => {
    const body = { ...asked, idempotencyKey: `key-${count}`, ...metadata() };
    sent.push({ endpoint: "consume", body });
    const id = textIn((await run("consume", body)).body, "consumeId");
    if (id !== MISSING) consumes.push({ customer: textIn(body, "customerId"), id });
    return id;
  };
  const record: Action = async () => {
    const body = {
      customerId: someone(),
      event: pick("tokens.generated", "jobs.done", "page viewed"),
      quantity: 1 + upTo(500),
      ...sometimes(0.6, () => ({ idempotencyKey: `event-${count}` })),
      ...sometimes(0.3, () => ({ timestamp: at(-pick(60_000, DAY, 6 * DAY, 400 * DAY, -DAY)) })),
      ...metadata(),
    };
    sent.push({ endpoint: "events", body });
    await run("events", body);
  };
  /** Reuses a key with another quantity, on another endpoint, or in the other environment. */
  const reuseKey: Action = () =>
    withOne(sent, ({ endpoint, body }) => {
      const { idempotencyKey, customerId } = body;
      return pick(
        () => run(endpoint, { ...body, quantity: 7 }),
        () => run("events", { idempotencyKey, customerId, event: "reused", quantity: 1 }),
        () => run(endpoint, body, { token: scene.keys.test }),
      )();
    });
  const mistake: Action = () =>
    withOne(MISTAKES, (wrong) => {
      const body: Body = { ...question(), idempotencyKey: `wrong-${count}`, ...wrong };
      const { feature, ...rest } = body;
      const endpoint = pick<Endpoint>("check", "consume", "events");
      return run(endpoint, endpoint === "events" ? { event: feature, ...rest } : body);
    });

  const addCredits: Action = async () => {
    const customer = someone();
    const kind = pick("purchase", "manual", "promotion");
    const reference = sometimes(0.5, () => ({ reference: `ref-${count}` }));
    const body = {
      credits: 10 * (1 + upTo(30)),
      kind,
      pool: pick("credits", "credits", "credits", "video", "none"),
      ...sometimes(0.4, () => ({ expiresAt: inDays(-1, 20) })),
      ...reference,
      ...(kind === "purchase" ? { price: { amount: 4_900, currency: "eur" } } : { note: "For the outage" }),
    };
    if (isLucky(0.3)) await manage("POST", `${customer}/credits/preview`, body);
    const { body: answer } = await manage("POST", `${customer}/credits`, body);
    grants.push({ customer, grant: textIn(answer, "grant") });
    if ("reference" in reference) references.push({ customer, body });
  };
  const repeatReference: Action = () =>
    withOne(references, ({ customer, body }) =>
      manage("POST", `${customer}/credits`, {
        ...body,
        ...pick<Body>({}, {}, { credits: 7 }, { kind: "manual" }),
      }),
    );
  const assignPlan: Action = () =>
    manage("POST", `${someone()}/plan`, {
      plan: pick("free", "pro", "pro", "trial", "team", "none"),
      ...sometimes(0.3, () => ({ anchor: inDays(-40, 0) })),
      ...sometimes(0.4, () => ({ endsAt: inDays(-1, 25) })),
      ...sometimes(0.3, () => ({ shorten: true })),
      ...sometimes(0.2, () => ({ asOf: inDays(-3, 0) })),
    });
  const describe: Action = () =>
    manage("PUT", someone(), {
      name: pick("Acme GmbH", "Initech", null),
      ...sometimes(0.5, () => ({ email: `mail-${count}@example.com` })),
      ...sometimes(0.5, () => ({ billingReference: `cus_${upTo(40)}` })),
      ...metadata(),
    });
  const reverse: Action = () =>
    withOne(consumes, async ({ customer, id }) => {
      const path = `${customer}/consumes/${id}/reverse`;
      const quantity = sometimes(0.4, () => ({ quantity: 1 + upTo(3) }));
      if (isLucky(0.3)) await manage("POST", `${path}/preview`, quantity);
      await manage("POST", path, {
        ...quantity,
        ...sometimes(0.4, () => ({ reference: `ticket-${upTo(30)}` })),
      });
    });
  const importFile = async (query = pick("", "&dryRun=true", "&onError=stop")): Promise<void> => {
    const rows = Array.from({ length: 6 }, (_, row) => {
      const customer = pick(`imported-${upTo(12)}`, someone());
      return `${customer},Row ${row},${pick("pro", "free", "", "none")},${pick("", "25", "100", "-1")}\n`;
    });
    const csv = `customerId,name,plan,credits\n${rows.join("")}`;
    const headers = { "content-type": "text/csv" };
    await scene.manage("POST", `imports?name=file-${upTo(3)}${query}`, csv, { headers });
  };
  const assignInBulk = async (tooMany = pick(0, 0, 0, 1)): Promise<void> => {
    const body = {
      filter: pick<Body>({ plan: "free" }, { search: "imported" }, { isBlocked: true }),
      plan: pick("free", "pro", "trial"),
      ...sometimes(0.5, () => ({ endsAt: inDays(9, 10) })),
    };
    const { body: preview } = await scene.manage("POST", "bulk-assignments/preview", body);
    const expectedCount = (Number(textIn(preview, "matching")) || 0) + tooMany;
    await scene.manage("POST", "bulk-assignments", { ...body, expectedCount });
  };
  const publish: Action = async () => {
    const plan = pick("free", "pro", "trial");
    const allowance = { credits: 30 + upTo(300), period: pick("day", "week", "month"), rollover: upTo(3) };
    const features = [
      { feature: "image.render", limit: pick(null, { quantity: 20, period: "week" }) },
      { feature: "text.generate" },
      { feature: pick("export", "video.render"), limit: { quantity: 5, period: "day" } },
    ];
    const draft = { name: `${plan} ${count}`, allowances: [allowance], features };
    await scene.manage("PUT", `plans/${plan}/draft`, draft, { headers: { "if-match": "*" } });
    await scene.manage("GET", `plans/${plan}/diff`);
    await scene.manage("POST", `plans/${plan}/publish`, {
      reach: pick("new_assignments", "next_period", "now"),
    });
  };
  const changeFeature: Action = async () => {
    const path = `features/${pick("image.render", "beta.tool")}`;
    const etag = (await scene.manage("GET", path)).headers.get("etag") ?? "";
    const body = { name: `Feature ${count}`, cost: { credits: 1 + upTo(12) } };
    await scene.manage("PUT", path, body, { headers: { "if-match": etag } });
  };
  const tryOut: Action = () => {
    const body = {
      ...question(),
      endpoint: pick("check", "consume"),
      idempotencyKey: `try-${count}`,
      times: 1 + upTo(3),
    };
    return scene.manage("POST", pick("tries", `${TEST}/tries`, `${TEST}/tries`), body);
  };
  const look: Action = () =>
    manage(
      "GET",
      `${someone()}${pick("", "/ledger?limit=5", "/grants", "/plans", "/denials", "/proof", "/events?limit=5")}`,
    );

  const weights: readonly [weight: number, action: Action][] = [
    [30, () => consume()],
    [10, () => run("check", question())],
    [12, record],
    [8, () => withOne(sent, ({ endpoint, body }) => run(endpoint, body))],
    [4, reuseKey],
    [4, mistake],
    [9, addCredits],
    [3, repeatReference],
    [9, assignPlan],
    [2, () => manage("DELETE", `${someone()}/plan`)],
    [1, () => manage("DELETE", `${someone()}/plan?asOf=${inDays(-2, 0)}`)],
    [3, () => manage("PUT", `${someone()}/block`, { blocked: isLucky(0.15) })],
    [4, describe],
    [6, reverse],
    [4, () => withOne(grants, ({ customer, grant }) => manage("POST", `${customer}/grants/${grant}/revoke`))],
    [2, tryOut],
    [1, () => importFile()],
    [1, () => assignInBulk()],
    [2, publish],
    [1, changeFeature],
    [1, () => scene.manage("PUT", "default-plan", { plan: pick("free", "trial", null) })],
    [1, () => scene.manage("DELETE", `customers/${pick("c-23", "c-24", "imported-1", "nobody")}`)],
    [6, look],
  ];
  const deck = weights.flatMap(([weight, action]) => Array.from({ length: weight }, () => action));

  return {
    async begin() {
      for (const customer of ["c-1", "c-2", "c-3", "leaving"])
        await manage("PUT", customer, { name: "Acme" });
      for (let number = 4; number <= 15; number++)
        await manage("POST", `c-${number}/plan`, { plan: pick("free", "pro", "trial") });
      await manage("POST", "c-1/plan", { plan: "pro" });
      await manage("PUT", "c-3/block", { blocked: true });
      for (const [customerId, feature, quantity] of DENIED) {
        count += 1;
        await consume({ customerId, feature, quantity });
      }
      await manage("PUT", "c-3/block", { blocked: false });
      const bought = { credits: 50, kind: "purchase", reference: "bought-1" };
      const { body: added } = await manage("POST", "c-1/credits", bought);
      await manage("POST", `c-1/grants/${textIn(added, "grant")}/revoke`);
      count += 1;
      const id = await consume({ customerId: "c-1", feature: "image.render", quantity: 2 });
      await manage("POST", `c-1/consumes/${id}/reverse/preview`, {});
      for (const quantity of [1, 1, 1]) await manage("POST", `c-1/consumes/${id}/reverse`, { quantity });
      await manage("DELETE", "leaving");
      await scene.manage("DELETE", "customers/leaving");
      await importFile("");
      await assignInBulk(0);
      await tryOut();
    },
    async run(calls) {
      const until = recorder.calls + calls;
      while (recorder.calls < until) {
        count += 1;
        await deck[upTo(deck.length)]?.();
      }
    },
  };
}
