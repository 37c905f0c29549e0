import { expect, test } from "vitest";
import { PAGES } from "../../proof/dashboard/pages.ts";
import { loadSite } from "../../service/src/edge/docs/pages.ts";
import { PAGE_GUIDES } from "../src/frame/guides.ts";

test("every page's guide link points to an existing guide and heading", async () => {
  const { pages } = await loadSite();
  const broken = Object.entries(PAGE_GUIDES).filter(([, href]) => {
    const [url = "", anchor] = href.split("#");
    const sections = pages.get(url)?.rendered.sections;
    if (sections === undefined) return true;
    return anchor !== undefined && !sections.some((section) => section.anchor === anchor);
  });
  expect(broken).toEqual([]);
  expect(Object.keys(PAGE_GUIDES).sort()).toEqual(PAGES.map(({ route }) => route).sort());
});
