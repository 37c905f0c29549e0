import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CUSTOMER, openChat } from "../chat.ts";
import { type Run, runProgram } from "../run-program.ts";
import { type Plan, startModel } from "./model-server.ts";

const DRIVER = join(import.meta.dirname, "driver.ts");

/** Asks a model through the recipe, for a customer with this many credits. */
async function ask(recipe: string, credits: number, plan: Plan, cancelAfter?: number) {
  const purser = await openChat(credits);
  const model = await startModel(plan);
  const env = { ...purser.env, MODEL_URL: model.url, MODEL_KEY: "sk-local", MODEL: "local" };
  const args = [
    DRIVER,
    recipe,
    CUSTOMER,
    "msg_1",
    ...(cancelAfter === undefined ? [] : [String(cancelAfter)]),
  ];
  const run = (): Promise<Run> => runProgram(process.execPath, args, env);
  return { purser, model, run };
}

const countLines = (text: string): number => text.split("\n").length - 1;

describe.each(["ai-sdk", "openai"])("the recipe %s", (recipe) => {
  test("stops a generation at the last affordable token", async () => {
    const { purser, model, run } = await ask(recipe, 37, { tokens: 500 });
    const { code, stdout, stderr } = await run();
    expect({ code, delivered: countLines(stdout) }).toEqual({ code: 0, delivered: 37 });
    expect(stdout).toContain("t37");
    expect(JSON.parse(stderr)).toMatchObject({ status: "settled", creditsCharged: 37, creditsUncovered: 0 });
    const books = { balance: 0, charged: [37], uncovered: 0, ended: ["settled"], open: 0 };
    expect(await purser.readBooks()).toEqual(books);
    await expect.poll(() => model.calls[0]?.end).toBe("closed by caller");
    expect(model.calls[0]?.sent).toBeLessThan(500);
    expect(model.calls.length).toBe(1);
  });

  test("charges the tokens that the model reports at the end", async () => {
    const { purser, model, run } = await ask(recipe, 1_000, { tokens: 250, hidden: 30 });
    const { stdout, stderr } = await run();
    expect(countLines(stdout)).toBe(250);
    expect(JSON.parse(stderr)).toMatchObject({ status: "settled", creditsCharged: 280 });
    expect(await purser.readBooks()).toMatchObject({ balance: 720, charged: [280], open: 0 });
    expect(model.calls).toMatchObject([{ end: "finished", body: { stream: true } }]);
  });

  test("charges the tokens so far if the user cancels", async () => {
    const { purser, model, run } = await ask(recipe, 1_000, { tokens: 500 }, 12);
    const { stdout } = await run();
    // Tokens that have already arrived may still be delivered.
    const delivered = countLines(stdout);
    expect(delivered).toBeGreaterThanOrEqual(12);
    expect(delivered).toBeLessThan(100);
    const books = { balance: 1_000 - delivered, charged: [delivered], ended: ["settled"], open: 0 };
    expect(await purser.readBooks()).toMatchObject(books);
    await expect.poll(() => model.calls[0]?.end).toBe("closed by caller");
  });

  test("charges the tokens so far if the model fails", async () => {
    const { purser, run } = await ask(recipe, 1_000, { tokens: 500, breakAfter: 20 });
    const { code, stdout } = await run();
    // A broken connection can lose tokens in transit. They are neither delivered nor charged.
    const delivered = countLines(stdout);
    expect(code).toBe(1);
    expect(delivered).toBeGreaterThan(0);
    expect(delivered).toBeLessThanOrEqual(20);
    const books = { balance: 1_000 - delivered, charged: [delivered], ended: ["settled"], open: 0 };
    expect(await purser.readBooks()).toMatchObject(books);
  });

  test("does not call the model if the customer has no credits", async () => {
    const { purser, model, run } = await ask(recipe, 1, { tokens: 500 });
    await purser.consume({ customerId: CUSTOMER, feature: "chat.tokens", idempotencyKey: "test:last" });
    const { stdout, stderr } = await run();
    expect({ stdout, denial: JSON.parse(stderr) }).toMatchObject({
      stdout: "",
      denial: { allowed: false, reason: "insufficient_credits" },
    });
    expect(model.calls).toEqual([]);
  });
});
