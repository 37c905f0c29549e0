import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../service/test/books.ts";
import { openShop } from "./shop.ts";
import { checkout, makeEvent, nowSeconds, sign, subscribe } from "./stripe-objects.ts";

test("an event without a valid, recent signature gets 400 and changes nothing", async () => {
  const { post, database } = await openShop();
  const body = JSON.stringify(makeEvent("checkout.session.completed", checkout()));
  const good = sign(body);
  const digits = good.split("v1=")[1] ?? "";
  const refused: [string, string | null][] = [
    [body, null],
    [body, ""],
    [body, sign(body, { secret: "whsec_another" })],
    [body, sign(body, { time: nowSeconds() - 301 })],
    [body, sign(body, { time: nowSeconds() + 320 })],
    [body, sign(body, { time: Number.NaN })],
    [body, good.replace(/t=\d+/, `t=${Number(/t=(\d+)/.exec(good)?.[1]) - 1}`)],
    [body, good.replace(/t=\d+,/, "")],
    [body, good.replace("v1=", "v0=")],
    [body, good.slice(0, -2)],
    [body, `t=now,v1=${digits}`],
    [body.replace('"500"', '"5000"'), good],
    [`${body} `, good],
  ];
  for (const [sent, signature] of refused) {
    expect([signature, await post(sent, signature)]).toEqual([signature, 400]);
  }
  expect(await database.count("cell.grants", "reference is not null")).toBe(0);
  expect(await post(body, good)).toBe(200);
});

test("during secret rotation, an event with one valid signature among several is accepted", async () => {
  const { post, read } = await openShop();
  const body = JSON.stringify(makeEvent("checkout.session.completed", checkout()));
  const [time, signature] = sign(body).split(",");
  const old = sign(body, { secret: "whsec_old" }).split(",")[1];
  expect(await post(body, `${time},${old},${signature},v0=00`)).toBe(200);
  expect(await read("org/1")).toMatchObject({ balance: 500 });
});

test.each(["cut", "cut_after"] as const)(
  "if the connection to Purser fails (%s), Stripe gets a 500, and its retry adds the credits once",
  async (state) => {
    const { stripe, line, deliver, read, database, countPlanChanges } = await openShop();
    const subscription = subscribe("price_pro");
    stripe.subscriptions = [subscription];
    const events = [
      makeEvent("customer.subscription.created", subscription),
      makeEvent("checkout.session.completed", checkout()),
    ];
    line.state = state;
    for (const event of events) expect(await deliver(event)).toBe(500);
    expect(await countPlanChanges()).toBe(state === "cut" ? 0 : 1);
    line.state = "up";
    for (const event of events) expect(await deliver(event)).toBe(200);
    expect(await read("org/1")).toMatchObject({ plan: "pro", balance: 600 });
    expect(await countPlanChanges()).toBe(1);
    await expectSoundBooks(database);
  },
);
