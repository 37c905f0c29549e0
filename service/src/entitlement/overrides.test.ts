import { expect, test } from "vitest";
import { at, CREDITS, getFeature, makeCatalog, monthly } from "../../test/catalog.ts";
import { Timeline } from "../../test/timeline.ts";

/** The customer has 100 credits a month, images with a limit of 5 a month, and text without a limit. */
function onPro(): Timeline {
  const catalog = makeCatalog({
    pro: [{ features: { image: { quantity: 5, period: "month" }, text: null } }],
    basic: [{ allowances: [monthly(20)], features: { image: null } }],
  });
  const customer = new Timeline(catalog);
  customer.assign("2026-01-01", "pro");
  return customer;
}

test("an override changes the price, and a reversal returns what was paid", () => {
  const customer = onPro();
  const dear = customer.consume("2026-01-02", "image");
  expect(customer.override("2026-01-03", { image: { cost: { credits: 2, per: 1 } } })).toBe("changed");
  const cheap = customer.consume("2026-01-04", "image", 3);
  expect([dear.creditsRequired, cheap.creditsRequired]).toEqual([10, 6]);
  expect([dear.entry?.usage?.overrides, cheap.entry?.usage?.overrides]).toEqual([null, 1]);
  customer.override("2026-01-05", { image: { cost: { credits: 7, per: 1 } } });
  expect(customer.reverse("2026-01-06", cheap.entry, 1)).toMatchObject({ kind: "reversed", credits: 2 });
  expect(customer.reverse("2026-01-06", dear.entry)).toMatchObject({ kind: "reversed", credits: 10 });
  expect(customer.balance).toBe(96);
});

test("an override can include or exclude a feature; overriding only the cost does not include it", () => {
  const customer = onPro();
  expect(customer.check("2026-01-02", "disk").reason).toBe("feature_not_in_plan");
  customer.override("2026-01-02", { image: { included: false }, export: { included: true } });
  expect(customer.check("2026-01-03", "image").reason).toBe("feature_not_in_plan");
  expect(customer.consume("2026-01-03", "export")).toMatchObject({ allowed: true, creditsRequired: 0 });
  customer.override("2026-01-04", { disk: { cost: { credits: 1, per: 1 } } });
  expect(customer.check("2026-01-04", "disk").reason).toBe("feature_not_in_plan");
  expect(customer.check("2026-01-04", "image").allowed).toBe(true);
});

test("overrides stay in force when the plan changes, but allow nothing without a plan", () => {
  const customer = onPro();
  customer.override("2026-01-02", { text: { included: true }, image: { cost: { credits: 1, per: 1 } } });
  customer.assign("2026-01-03", "basic");
  expect(customer.check("2026-01-04", "text", 1000).creditsRequired).toBe(3);
  expect(customer.check("2026-01-04", "image").creditsRequired).toBe(1);
  customer.end("2026-01-05");
  expect(customer.check("2026-01-06", "image").reason).toBe("no_active_plan");
});

test("a higher limit with the same period continues the count, and the plan's limit applies again when the override ends", () => {
  const customer = onPro();
  customer.topUp("2026-01-01", 1_000);
  customer.consume("2026-01-02", "image", 5);
  expect(customer.check("2026-01-02", "image").reason).toBe("limit_reached");
  const endsAt = at("2026-01-20");
  customer.override("2026-01-03", { image: { limit: { quantity: 8, period: "month" } } }, { endsAt });
  expect(customer.check("2026-01-03", "image").before?.limit).toEqual({
    quantity: 8,
    used: 5,
    remaining: 3,
    resetsAt: at("2026-02-01"),
  });
  expect(customer.consume("2026-01-04", "image", 3).allowed).toBe(true);
  expect(customer.check("2026-01-04", "image").reason).toBe("limit_reached");
  expect(customer.check("2026-01-20", "image").before?.limit).toMatchObject({ quantity: 5, used: 8 });
  expect(customer.check("2026-02-01", "image").before?.limit).toMatchObject({ used: 0, remaining: 5 });
});

test("a limit with another period has its own count, while the plan's count continues", () => {
  const customer = onPro();
  customer.override("2026-01-02", { image: { limit: { quantity: 2, period: "day" } } });
  for (const day of ["2026-01-02", "2026-01-03"]) {
    expect(customer.consume(day, "image", 2).allowed).toBe(true);
    expect(customer.consume(day, "image").reason).toBe("limit_reached");
  }
  expect(customer.override("2026-01-04", {})).toBe("changed");
  expect(customer.check("2026-01-04", "image").before?.limit).toMatchObject({ quantity: 5, used: 4 });
});

test("a daily limit has its own count, even on the last day of the month", () => {
  const customer = onPro();
  customer.topUp("2026-01-01", 1_000);
  customer.override("2026-01-02", { image: { limit: { quantity: 3, period: "day" } } });
  for (const day of ["2026-01-02", "2026-01-30", "2026-01-31"]) {
    expect(customer.consume(day, "image", 3).allowed).toBe(true);
    expect(customer.consume(day, "image").reason).toBe("limit_reached");
  }
});

test("a plan change does not restart the count of an override's limit", () => {
  const customer = onPro();
  customer.override("2026-01-02", {
    image: { limit: { quantity: 2, period: "once" } },
    text: { limit: { quantity: 5, period: "month" }, included: true },
  });
  customer.consume("2026-01-02", "image", 2);
  customer.consume("2026-01-02", "text", 4);
  customer.assign("2026-01-10", "basic");
  expect(customer.check("2026-01-10", "image").reason).toBe("limit_reached");
  expect(customer.check("2026-01-10", "text").before?.limit).toMatchObject({
    used: 4,
    resetsAt: at("2026-02-01"),
  });
});

test("changing a limit's period and changing it back does not reset its count", () => {
  const customer = onPro();
  customer.topUp("2026-01-01", 1_000);
  customer.consume("2026-01-02", "image", 5);
  customer.override("2026-01-03", { image: { limit: { quantity: 2, period: "day" } } });
  customer.consume("2026-01-03", "image", 2);
  for (const day of ["2026-01-03", "2026-01-04"]) {
    customer.override(day, { image: { limit: { quantity: 10, period: "month" } } });
    expect(customer.check(day, "image").before?.limit).toMatchObject({ used: 7, remaining: 3 });
    customer.override(day, {});
  }
});

test("a new plan version does not change the count of an override's limit", () => {
  const customer = onPro();
  customer.topUp("2026-01-01", 1_000);
  customer.consume("2026-01-02", "image", 4);
  customer.override("2026-01-03", { image: { limit: { quantity: 10, period: "month" } } });
  const pro = [
    { features: { image: { quantity: 5, period: "month" } as const } },
    {
      publishedAt: at("2026-01-04"),
      reach: "now" as const,
      features: { image: { quantity: 1, period: "day" } as const },
    },
  ];
  customer.catalog = makeCatalog({ pro });
  expect(customer.check("2026-01-06", "image").before?.limit).toMatchObject({ quantity: 10, used: 4 });
});

test("an override for a monthly allowance does not apply to a daily allowance", () => {
  const customer = onPro();
  customer.override("2026-01-02", {}, { credits: 500 });
  const daily = { pool: CREDITS, credits: 10, period: "day", rollover: 0, overage: 0 } as const;
  customer.catalog = makeCatalog({ pro: [{}], free: [{ allowances: [daily] }] });
  customer.assign("2026-02-10", "free");
  expect(customer.check("2026-02-10", "image").before?.balance).toBe(10);
  expect(customer.check("2026-02-12", "image").before?.balance).toBe(10);
});

test("an overridden allowance returns to the plan's credits when a plan version changes its period", () => {
  const daily = { pool: CREDITS, credits: 10, period: "day", rollover: 0, overage: 0 } as const;
  const customer = new Timeline(makeCatalog({ pro: [{ allowances: [daily] }] }));
  customer.assign("2026-01-01", "pro");
  customer.override("2026-01-01", {}, { credits: 100 });
  expect(customer.check("2026-01-02", "image").before?.balance).toBe(100);
  customer.consume("2026-01-02", "image");
  customer.catalog = makeCatalog({
    pro: [
      { allowances: [daily] },
      { publishedAt: at("2026-01-02T12:00:00"), reach: "now", allowances: [monthly(3_000)] },
    ],
  });
  expect(customer.check("2026-01-03", "image").before?.balance).toBe(2_990);
});

test("an allowance override with a new amount uses the current plan's period; with an unchanged amount, it keeps its own period", () => {
  const customer = onPro();
  const daily = { pool: CREDITS, credits: 10, period: "day", rollover: 0, overage: 0 } as const;
  customer.catalog = makeCatalog({ pro: [{}], free: [{ allowances: [daily] }] });
  customer.assign("2026-01-02", "free");
  customer.override("2026-01-02", {}, { credits: 20 });
  customer.assign("2026-01-03", "pro");
  expect(customer.override("2026-01-03", {}, { credits: 20 })).toBe("unchanged");
  customer.override("2026-01-03", {}, { credits: 2_000 });
  expect(customer.check("2026-02-01", "image").before?.balance).toBe(2_000);
});

test("a limit that is removed and set again keeps the periods of a plan that started on the 31st", () => {
  const customer = new Timeline(makeCatalog({ pro: [{ features: { image: null } }] }));
  customer.assign("2026-01-31", "pro");
  const limit = { quantity: 5, period: "month" } as const;
  customer.override("2026-02-01", { image: { limit } });
  customer.consume("2026-02-10", "image");
  customer.override("2026-02-11", {});
  customer.override("2026-02-12", { image: { limit } });
  expect(customer.check("2026-02-12", "image").before?.limit).toMatchObject({ used: 1 });
  expect(customer.check("2026-03-05", "image").before?.limit?.resetsAt).toBe(at("2026-03-31"));
});

test("an override's count from another plan does not hide the current plan's higher count", () => {
  const customer = onPro();
  customer.topUp("2026-01-01", 1_000);
  const limit = { quantity: 20, period: "month" } as const;
  customer.consume("2026-01-02", "image", 5);
  customer.assign("2026-01-03", "basic");
  customer.override("2026-01-03", { image: { limit } });
  customer.consume("2026-01-03", "image");
  customer.override("2026-01-04", {});
  customer.assign("2026-01-05", "pro");
  customer.override("2026-01-05", { image: { limit } });
  expect(customer.check("2026-01-05", "image").before?.limit).toMatchObject({ used: 5, remaining: 15 });
});

test("a new customer's overrides apply to the default plan", () => {
  const customer = new Timeline(makeCatalog({ free: [{}] }, { defaultPlan: "free" }));
  expect(customer.override("2026-01-01", {}, { credits: 500 })).toBe("changed");
  expect(customer.check("2026-01-02", "image").before?.balance).toBe(500);
});

test("usage counts toward the plan's limit while an override removes that limit", () => {
  const customer = onPro();
  customer.topUp("2026-01-01", 1_000);
  customer.override("2026-01-02", { image: { limit: null } });
  expect(customer.consume("2026-01-02", "image", 50).after?.limit).toBeNull();
  customer.override("2026-01-03", {});
  expect(customer.check("2026-01-03", "image").reason).toBe("limit_reached");
});

test("removing a limit and setting it again resumes its count, unless the limit never resets", () => {
  const customer = onPro();
  const setLimit = (when: string, period: "day" | "once"): string =>
    customer.override(when, { text: { limit: { quantity: 2, period } } });
  const usedAt = (when: string): number | undefined => customer.check(when, "text").before?.limit?.used;
  setLimit("2026-01-02T01:00:00", "day");
  customer.consume("2026-01-02T02:00:00", "text", 2);
  customer.override("2026-01-02T03:00:00", {});
  customer.consume("2026-01-02T04:00:00", "text", 5);
  setLimit("2026-01-02T05:00:00", "day");
  expect(usedAt("2026-01-02T05:00:00")).toBe(7);
  expect(usedAt("2026-01-03T05:00:00")).toBe(0);
  setLimit("2026-01-03T06:00:00", "once");
  customer.consume("2026-01-03T07:00:00", "text", 2);
  expect(customer.check("2027-01-01", "text").reason).toBe("limit_reached");
  customer.override("2027-01-02", {});
  setLimit("2027-01-03", "once");
  expect(usedAt("2027-01-03")).toBe(0);
});

test("a reversal lowers both the override's count and the plan's count", () => {
  const customer = onPro();
  customer.override("2026-01-02", { image: { limit: { quantity: 3, period: "day" } } });
  const { entry } = customer.consume("2026-01-02", "image", 3);
  customer.reverse("2026-01-02", entry, 2);
  expect(customer.check("2026-01-02", "image").before?.limit).toMatchObject({ quantity: 3, used: 1 });
  customer.override("2026-01-02", {});
  expect(customer.check("2026-01-02", "image").before?.limit).toMatchObject({ quantity: 5, used: 1 });
});

test("an allowance override takes effect in the next period, and a version with reach `now` does not undo it", () => {
  const customer = onPro();
  customer.override("2026-01-10", {}, { credits: 500, endsAt: at("2026-03-15") });
  expect(customer.check("2026-01-31", "image").before?.balance).toBe(100);
  customer.consume("2026-02-01", "image", 2);
  expect(customer.balance).toBe(480);
  const features = { image: { quantity: 5, period: "month" } as const, text: null };
  customer.catalog = makeCatalog({
    pro: [
      { features },
      { publishedAt: at("2026-02-10"), reach: "now", allowances: [monthly(200)], features },
    ],
  });
  expect(customer.check("2026-02-11", "image").before?.balance).toBe(480);
  expect(customer.check("2026-03-20", "image").before?.balance).toBe(500);
  expect(customer.check("2026-04-01", "image").before?.balance).toBe(200);
});

test("overrides that end when a period starts do not apply to that period", () => {
  const customer = onPro();
  customer.override("2026-01-10", {}, { credits: 500, endsAt: at("2026-02-01") });
  expect(customer.check("2026-02-01", "image").before?.balance).toBe(100);
  expect(customer.check("2026-01-31T23:59:59", "image").before?.balance).toBe(100);
});

test("setting the same overrides again changes nothing, and an end must be in the future", () => {
  const customer = onPro();
  const terms = { image: { cost: { credits: 2, per: 1 } } };
  const endsAt = at("2026-02-01");
  expect(customer.override("2026-01-02", {})).toBe("unchanged");
  expect(customer.override("2026-01-02", terms, { endsAt })).toBe("changed");
  expect(customer.override("2026-01-03", terms, { endsAt })).toBe("unchanged");
  expect(customer.override("2026-01-03", terms)).toBe("changed");
  expect(customer.override("2026-01-03", terms, { endsAt: at("2026-01-03") })).toBe("ends_in_the_past");
  expect(customer.wallet).toMatchObject({ overridesCount: 2, overrides: { number: 2, endsAt: null } });
  expect(customer.wallet.overrides?.features).toMatchObject([{ feature: getFeature("image").id }]);
  expect(customer.wallet.grants.map(({ pool }) => pool)).toEqual([CREDITS]);
});
