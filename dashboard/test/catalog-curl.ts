import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Page } from "playwright-core";

/** Runs the curl call shown on the page in a shell, and returns the response. */
export async function runCurlOf(page: Page, token: string): Promise<unknown> {
  const curl = await page.getByRole("region", { name: "the call" }).textContent();
  const { stdout } = await promisify(execFile)("bash", ["-c", curl ?? ""], {
    env: { ...process.env, PURSER_TOKEN: token },
  });
  return JSON.parse(stdout);
}
