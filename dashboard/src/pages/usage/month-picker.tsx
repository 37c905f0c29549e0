import { getRouteApi } from "@tanstack/react-router";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { IconButton } from "../../ui/button.tsx";
import { Select } from "../../ui/field.tsx";
import { lastMonths, monthAfter, nameOfMonth, thisMonth } from "./month-search.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/usage/month-end");

const OFFERED = 24;

export function MonthPicker({ month }: { month: string }) {
  const navigate = route.useNavigate();
  const go = (to: string): void => void navigate({ search: { month: to }, resetScroll: false });
  const offered = lastMonths(OFFERED);
  return (
    <div className="flex items-center gap-1">
      <IconButton icon={ChevronLeft} label="The month before" onClick={() => go(monthAfter(month, -1))} />
      <div className="w-44">
        <Select
          label="Month"
          isLabelHidden
          value={month}
          options={(offered.includes(month) ? offered : [month, ...offered]).map((value) => ({
            value,
            label: nameOfMonth(value),
          }))}
          onChange={({ target }) => go(target.value)}
        />
      </div>
      <IconButton
        icon={ChevronRight}
        label="The month after"
        isDisabled={month >= thisMonth()}
        onClick={() => go(monthAfter(month, 1))}
      />
    </div>
  );
}
