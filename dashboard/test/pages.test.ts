import { expect, test, vi } from "vitest";
import { AUTH_PAGES, PAGES, REDIRECTS } from "../../proof/dashboard/pages.ts";

test("the list of pages for screenshots and measurements matches the router", async () => {
  vi.stubGlobal("window", { location: { origin: "http://127.0.0.1" } });
  const { router } = await import("../src/router.tsx");
  const leaves = Object.values(router.routesById).filter(({ children }) => children === undefined);
  const known = leaves.map(({ fullPath }) => fullPath);
  const listed = [...AUTH_PAGES, ...PAGES];
  expect([...listed.map(({ route }) => route), ...REDIRECTS].sort()).toEqual(known.sort());
  expect(new Set(listed.map(({ name }) => name)).size).toBe(listed.length);
});
