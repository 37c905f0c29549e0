import { join } from "node:path";
import type { Page } from "playwright-core";
import type { Caller } from "../harness/caller.ts";
import { runProof } from "../harness/command.ts";
import { awaitReady, logIn, openChromium, openContext, watchTraffic } from "./chromium.ts";
import { startDevelopment } from "./installations.ts";

const OUT = join(import.meta.dirname, "../../docs/images");
const HERE = "/projects/1/test";
const READY_MS_MAX = 60_000;
/** Time for animations to end. */
const SETTLE_MS = 500;

type Image = {
  readonly name: string;
  readonly address: string;
  /** Interacts with the page before the screenshot. */
  readonly act?: (page: Page) => Promise<void>;
  /** Height of the window, for pages with their main content further down. */
  readonly height?: number;
};

type Line = Readonly<Record<string, unknown>>;

await runProof(
  {
    command: "npm run doc-images",
    about: "Takes the screenshots in docs/images from a new installation with the demo data.",
    options: {},
  },
  async ({ stack }) => {
    const { url, owner, caller } = await startDevelopment("demo", stack);
    const browser = await openChromium(stack);
    const faults: string[] = [];
    const appearance = { scheme: "light", width: 1440 } as const;
    const context = await openContext(browser, { url, appearance, complaints: faults });
    const page = await logIn(context, owner);
    const images = await findImages(caller);
    for (const image of images) await take(page, url, image);
    return { faults, figures: { images: images.length } };
  },
);

/** Finds demo customers and keys that fill the pages with data. */
async function findImages(caller: Caller): Promise<Image[]> {
  const list = async (path: string): Promise<Line[]> => (await caller.get<{ items: Line[] }>(path)).items;
  const logged = await list("requests?limit=200");
  const reused = logged.find(({ code }) => code === "idempotency_key_reused");
  const denied = await findDenial(list, logged);
  const doubled = await findDoubled(list);
  return [
    { name: "home", address: `${HERE}/` },
    { name: "customer", address: `${HERE}/customers/org_1001/` },
    { name: "ledger", address: `${HERE}/customers/${doubled}/ledger` },
    { name: "denial", address: `${HERE}/denials/${denied["denialId"]}`, height: 1_270 },
    { name: "requests", address: `${HERE}/requests` },
    { name: "key", address: `${HERE}/keys/${encodeURIComponent(String(reused?.["idempotencyKey"]))}` },
    { name: "usage", address: `${HERE}/usage`, height: 988 },
    { name: "publish", address: `${HERE}/plans/free/publish` },
    {
      name: "add-credits",
      address: `${HERE}/customers/org_1001/`,
      act: async (page) => {
        await page.getByRole("button", { name: "Add credits" }).click();
        await page.getByRole("dialog").getByLabel("Credits", { exact: true }).fill("500");
      },
    },
  ];
}

/** The newest denial for insufficient credits. */
async function findDenial(list: (path: string) => Promise<Line[]>, logged: readonly Line[]): Promise<Line> {
  for (const { customerId } of logged.filter(({ reason }) => reason === "insufficient_credits")) {
    const denials = await list(`customers/${customerId}/denials`);
    const found = denials.find(({ reason }) => reason === "insufficient_credits");
    if (found !== undefined) return found;
  }
  throw new Error("the demo has no denial for insufficient credits");
}

/** The customer who was charged twice. */
async function findDoubled(list: (path: string) => Promise<Line[]>): Promise<string> {
  const [repeated] = await list("repeated-charges");
  if (repeated === undefined) throw new Error("the demo has no double charge");
  return String(repeated["customerId"]);
}

async function take(page: Page, url: string, { name, address, act, height = 900 }: Image): Promise<void> {
  await page.setViewportSize({ width: 1440, height });
  const traffic = await watchTraffic(page);
  await page.goto(`${url}${address}`);
  await awaitReady(page, ["h1"], READY_MS_MAX);
  await act?.(page);
  await traffic.settle();
  await page.waitForTimeout(SETTLE_MS);
  await page.screenshot({ path: join(OUT, `${name}.png`) });
  console.log(`${name}.png`);
}
