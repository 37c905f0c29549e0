import { useQuery } from "@tanstack/react-query";
import { planNamesQuery } from "../api/catalog-lists.ts";
import { describeNotice, holdOfNotice } from "../format/notices.ts";
import { formatTime } from "../format/times.ts";
import { TextLink } from "../ui/button.tsx";
import { useClock } from "../ui/time.tsx";
import { useFeatureNames, usePoolNames, useScope } from "./use-scope.ts";

type Notice = {
  readonly type: string;
  readonly customerId: string | null;
  readonly data: Readonly<Record<string, unknown>>;
};

/** Returns the figures of a notice in words. Empty for a notice without figures. */
export function useNoticeText(): (notice: Notice) => string {
  const pool = usePoolNames();
  const feature = useFeatureNames();
  const { data: plans } = useQuery(planNamesQuery(useScope()));
  const clock = useClock();
  return ({ type, data }) =>
    describeNotice(type, data, {
      pool,
      feature,
      plan: (key) => plans?.get(key) ?? key,
      time: (at) => formatTime(at, clock),
    }) ?? "";
}

/** The figures of a notice, and a link to its hold. */
export function NoticeText({ notice }: { notice: Notice }) {
  const scope = useScope();
  const text = useNoticeText()(notice);
  const hold = holdOfNotice(notice.data);
  return (
    <>
      {text}
      {hold !== null && notice.customerId !== null && (
        <>
          {" "}
          <TextLink
            to="/projects/$projectId/$environment/customers/$customerId/holds"
            params={{ ...scope, customerId: notice.customerId }}
            search={{ hold }}
          >
            Open hold<span className="sr-only"> {hold}</span>
          </TextLink>
        </>
      )}
    </>
  );
}
