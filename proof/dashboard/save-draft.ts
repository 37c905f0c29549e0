import type { Development } from "./dev.ts";

const DRAFT = {
  name: "Free",
  allowances: [{ credits: 300, period: "month" }],
  features: [
    { feature: "hd.export", limit: { quantity: 5, period: "day" } },
    { feature: "image.generate" },
    { feature: "video.render" },
  ],
};

/** So that a plan has something to publish. */
export async function saveDraft({ url, managementToken }: Development): Promise<void> {
  const response = await fetch(`${url}/manage/v1/projects/1/test/plans/free/draft`, {
    method: "PUT",
    headers: { authorization: `Bearer ${managementToken}`, "content-type": "application/json" },
    body: JSON.stringify(DRAFT),
  });
  if (response.status !== 200) throw new Error(`the draft was answered with ${await response.text()}`);
  await response.body?.cancel();
}
