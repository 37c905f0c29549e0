import { type Managed, setupManage } from "../../../service/test/manage.ts";
import { type LineToPurser, startLineTo } from "../line.ts";
import { startServer } from "../start-server.ts";
import { type LocalStripe, STRIPE_SECRET_KEY, startLocalStripe } from "./servers.ts";
import { type StripeEvent, sign, WEBHOOK_SECRET } from "./stripe-objects.ts";

export type Shop = Managed & {
  readonly stripe: LocalStripe;
  readonly line: LineToPurser;
  /** Signs and sends an event. Returns the status. */
  deliver(event: StripeEvent): Promise<number>;
  /** Sends a body with any signature. Returns the status. */
  post(body: string, signature: string | null): Promise<number>;
  /** Reads a customer from Purser. */
  read(customerId: string): Promise<Standing>;
  /** Counts the plan changes made by the recipe. */
  countPlanChanges(): Promise<number>;
};

export type Standing = {
  readonly plan: string | null;
  readonly endsAt: string | null;
  /** The pending change: the plan, its start and its end. */
  readonly next: readonly unknown[] | null;
  readonly balance: number;
};

/** Starts Purser with two plans, `basic` (20 credits a month) and `pro` (100), a local Stripe, and the recipe that connects them. */
export async function openShop(overrides: Record<string, string> = {}): Promise<Shop> {
  const managed = await setupManage();
  const { publish, service, database, project, tokens, manage } = managed;
  await publish({
    key: "basic",
    name: "Basic",
    allowances: [{ pool: "credits", credits: 20, period: "month", rollover: 0, overage: 0 }],
  });
  const stripe = await startLocalStripe();
  const line = await startLineTo(service.url);
  const { url } = await startServer("stripe-webhook", {
    STRIPE_URL: stripe.url,
    STRIPE_SECRET_KEY,
    STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    PURSER_URL: line.url,
    PURSER_TOKEN: tokens.operator,
    PURSER_PROJECT: String(project.projectId),
    PURSER_ENVIRONMENT: "test",
    PLANS: JSON.stringify({ price_basic: "basic", price_pro: "pro", price_pro_yearly: "pro" }),
    GRACE_HOURS: "72",
    ...overrides,
  });
  const post = async (body: string, signature: string | null): Promise<number> => {
    const headers = signature === null ? {} : { "stripe-signature": signature };
    return (await fetch(`${url}/stripe`, { method: "POST", headers, body })).status;
  };
  return {
    ...managed,
    stripe,
    line,
    post,
    deliver: (event) => {
      const body = JSON.stringify(event);
      return post(body, sign(body));
    },
    countPlanChanges: () => database.count("cell.audit", "action = 'plan.assigned' and actor_kind = 'token'"),
    read: async (customerId) => {
      const { status, body } = await manage("GET", `customers/${encodeURIComponent(customerId)}`);
      if (status === 404) return { plan: null, endsAt: null, next: null, balance: 0 };
      const plan = body["plan"] as { key: string; endsAt: string | null } | null;
      const [pool] = body["balances"] as { balance: number }[];
      const pending = body["nextPlan"] as { key: string; startsAt: string; endsAt: string | null } | null;
      const next = pending === null ? null : [pending.key, pending.startsAt, pending.endsAt];
      return { plan: plan?.key ?? null, endsAt: plan?.endsAt ?? null, next, balance: pool?.balance ?? 0 };
    },
  };
}
