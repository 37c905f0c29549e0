import { readFile } from "node:fs/promises";
import type { Download, Page } from "playwright-core";
import { expect, test } from "vitest";
import { type Managed, setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";
import { tabTo } from "./tab-to.ts";

const EXPORTS = "/projects/1/test/usage/exports";
const thisMonth = new Date().toISOString().slice(0, 7);
const EVENTS = 1_500;

async function setupEvents(): Promise<Managed> {
  const managed = await setupManage();
  const text = 'a note of some length, with a "quote"\nand a second line. '.repeat(8);
  for (let sent = 0; sent < EVENTS; sent += 50) {
    await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        managed.record({
          customerId: `c\u00fc${sent + index}`,
          event: "tokens",
          quantity: 1,
          metadata: { text },
        }),
      ),
    );
  }
  return managed;
}

/** Slows the network down, so that progress is visible. */
async function slowDown(page: Page, bytesPerSecond: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 0,
    uploadThroughput: -1,
    downloadThroughput: bytesPerSecond,
  });
}

async function textOf(download: Download): Promise<string> {
  return readFile(await download.path(), "utf8");
}

const percentOf = async (page: Page): Promise<number> =>
  Number(await page.getByRole("progressbar").first().getAttribute("aria-valuenow"));

test("an export shows progress, can be canceled, and resumes without gaps or duplicates", async () => {
  const { service, manage } = await setupEvents();
  const page = await signIn(service.url, `${EXPORTS}?month=${thisMonth}`);
  await expectAccessible(page);
  await slowDown(page, 150_000);
  await page.getByRole("button", { name: "Export events from test" }).click();
  const job = page.getByRole("listitem", { name: `events-test-${thisMonth}.csv` });
  await job.getByText(/ of about [\d,]+ rows/).waitFor();
  await expect.poll(() => percentOf(page), { interval: 50 }).toBeGreaterThan(0);
  expect(await percentOf(page)).toBeLessThan(100);
  await job.getByRole("button", { name: "Cancel" }).click();
  await job.getByText("Canceled").waitFor();
  await expectAccessible(page);
  await slowDown(page, -1);
  // Opening another page keeps the rows received so far.
  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByRole("heading", { name: "Usage", exact: true }).waitFor();
  await page.getByRole("link", { name: "Exports" }).click();
  const download = page.waitForEvent("download");
  await job.getByRole("button", { name: "Resume" }).click();
  await job.getByText("1,500 rows").waitFor();
  await job.getByText("Saved").waitFor();
  const whole = await manage("GET", `exports/events?from=${thisMonth}-01T00:00:00Z`);
  const withoutCursors = (text: string): string => text.replaceAll(/,[\w-]+\r?\n(?=evt_|$)/g, "\n");
  expect(withoutCursors(await textOf(await download))).toBe(withoutCursors(whole.text));
  expect((await manage("GET", "/manage/v1/audit?action=events.exported")).text).toContain("isContinued");
  await job.getByRole("button", { name: "Remove" }).click();
  await page.getByText("No exports yet").waitFor();
});

test("an NDJSON export can be started with the keyboard, and the curl call shown returns the same rows", async () => {
  const { service, topUp, manage } = await setupManage();
  await topUp("ada", 500);
  const page = await signIn(service.url, EXPORTS, { scheme: "dark", width: 390 });
  await tabTo(page, page.getByRole("radio", { name: "Events" }));
  await page.keyboard.press("ArrowUp");
  await page.waitForURL("**/exports?kind=grants");
  await tabTo(page, page.getByLabel("Format"));
  await page.keyboard.type("ND");
  await page.waitForURL("**/exports?**format=ndjson**");
  await tabTo(page, page.getByRole("button", { name: "Export grants from test" }));
  const download = page.waitForEvent("download");
  await page.keyboard.press("Enter");
  const lines = (await textOf(await download)).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).credits)).toEqual([100, 500]);
  await page.getByText("2 rows").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "API call" }).click();
  const curl = (await page.getByLabel("the call", { exact: true }).textContent()) ?? "";
  const [, path = ""] = curl.match(/'https?:\/\/[^/]+(\/[^']+)'/) ?? [];
  expect((await manage("GET", path)).text.trimEnd().split("\n")).toHaveLength(2);
  expect(curl).toContain("-o grants-test-all.ndjson");
});
