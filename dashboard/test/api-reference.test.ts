import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { openWindow } from "./browser.ts";

test("the API reference works under a content security policy without unsafe-inline or unsafe-eval", async () => {
  const { service } = await setupManage();
  const page = await openWindow(service.url);
  const violations: string[] = [];
  await page.exposeFunction("onViolation", (directive: string) => violations.push(directive));
  await page.addInitScript(
    `addEventListener("securitypolicyviolation", (event) => onViolation(event.effectiveDirective), true)`,
  );
  const nonces = new Set<string>();
  for (const [address, path] of [
    ["/docs/api/", "/v1/consume"],
    ["/docs/api/?api=manage", "/manage/v1/session"],
  ] as const) {
    const policy = (await page.goto(address))?.headers()["content-security-policy"] ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("unsafe");
    nonces.add(policy.match(/script-src 'nonce-([\w-]{22})';/)?.[1] ?? "none");
    await page.getByText(path, { exact: true }).first().waitFor();
  }
  await page.keyboard.press("Control+k");
  await page.keyboard.type("consume");
  await page.getByRole("option").first().waitFor();
  expect(violations).toEqual([]);
  expect(nonces.size).toBe(2);
});
