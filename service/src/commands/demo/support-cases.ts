import { brandAs, type Instant } from "../../primitives/brand.ts";
import { type Act, DAY_MS, timeOn } from "./act.ts";
import {
  APOLOGIZED_TO,
  LIMITED,
  PAID_IN_VAIN,
  REVERSED,
  TWICE_CHARGED,
  WRONGLY_CREDITED,
} from "./companies.ts";

/** Cases for a support agent to find, including some that are already resolved. */
export function listSupportCases(companyId: string, now: Instant): readonly Act[] {
  return CASES[companyId]?.(now) ?? [];
}

const CASES: Readonly<Record<string, (now: Instant) => readonly Act[]>> = {
  // A worker timed out and repeated the job with a new key, so one clip was charged twice.
  [TWICE_CHARGED]: (now) => [
    clip("job_7c41e90b/attempt-1", timeOn(now, 1, "14:03:27.518")),
    clip("job_7c41e90b/attempt-2", timeOn(now, 1, "14:03:31.902")),
  ],

  // The customer spends its 200 monthly credits, buys more, and is still denied. The first use sets the anchor, so that no period
  // starts during this case.
  [PAID_IN_VAIN]: (now) => [
    images("job_41d97e6a", 1, timeOn(now, 39, "09:48:30.512")),
    images("job_b08d52f1", 8, timeOn(now, 7, "09:20:44.105")),
    images("job_3e9a7710", 7, timeOn(now, 6, "15:41:09.660")),
    images("job_55c0d8ae", 5, timeOn(now, 5, "08:12:51.037")),
    images("job_e1f4a203", 6, timeOn(now, 5, "08:14:22.871")),
    images("job_90b6cc3d", 6, timeOn(now, 4, "09:05:10.442")),
    images("job_2ad7f86e", 6, timeOn(now, 3, "10:31:36.219")),
    images("job_c7e25b94", 4, timeOn(now, 2, "07:58:03.754")),
  ],
  // The payment in the case above was credited by mistake to a customer with a similar name.
  [WRONGLY_CREDITED]: (now) => [
    {
      kind: "add_credits",
      by: "support",
      at: timeOn(now, 5, "11:26:40.083"),
      grant: "purchase",
      credits: 2_000,
      expiresAt: null,
      reference: "pi_3Sf8QmKz41NorthlightRbt",
      price: { amount: 3_900, currency: "USD" },
      note: "Card payment by Northlight Robotics, order NR-1042",
    },
  ],

  // The customer requests many certificates in one day, with a limit of 20 a day.
  [LIMITED]: (now) => [
    exports("job_certs-01", 8, timeOn(now, 3, "09:02:15.407")),
    exports("job_certs-02", 8, timeOn(now, 3, "09:40:58.921")),
    exports("job_certs-03", 4, timeOn(now, 3, "10:17:33.266")),
    exports("job_certs-04", 8, timeOn(now, 3, "10:55:04.318")),
    exports("job_certs-05", 8, timeOn(now, 3, "10:55:49.640")),
    exports("job_certs-06", 4, timeOn(now, 3, "11:20:12.585")),
    exports("job_certs-07", 4, timeOn(now, 3, "13:08:27.093")),
    exports("job_certs-08", 1, timeOn(now, 3, "15:46:41.774")),
  ],

  [REVERSED]: (now) => [
    clip("job_19fa03d6/attempt-1", timeOn(now, 16, "11:47:05.390")),
    clip("job_19fa03d6/attempt-2", timeOn(now, 16, "11:47:08.127")),
    { kind: "reverse", at: timeOn(now, 15, "09:33:52.816"), key: "job_19fa03d6/attempt-2" },
  ],
  [APOLOGIZED_TO]: (now) => [
    {
      kind: "add_credits",
      by: "support",
      at: timeOn(now, 18, "16:22:19.945"),
      grant: "manual",
      credits: 500,
      expiresAt: brandAs<Instant>(timeOn(now, 18, "16:22:19.945") + 60 * DAY_MS),
      reference: null,
      price: null,
      note: "For the slow renders on Tuesday",
    },
  ],
};

function clip(key: string, at: Instant): Act {
  const metadata = { jobId: key.split("/")[0], title: "Trailer, final cut" };
  return { kind: "consume", at, feature: "video.render", quantity: 1, metadata, key };
}

function images(jobId: string, quantity: number, at: Instant): Act {
  return {
    kind: "consume",
    at,
    feature: "image.generate",
    quantity,
    metadata: { jobId },
    key: `${jobId}/attempt-1`,
  };
}

function exports(jobId: string, quantity: number, at: Instant): Act {
  return {
    kind: "consume",
    at,
    feature: "hd.export",
    quantity,
    metadata: { jobId },
    key: `${jobId}/attempt-1`,
  };
}
