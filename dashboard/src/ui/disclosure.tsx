import { Collapsible } from "@base-ui/react/collapsible";
import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";

export function Disclosure({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Collapsible.Root>
      <Collapsible.Trigger className="group inline-flex items-center gap-1 rounded text-body font-medium text-muted hover:text-ink">
        <ChevronRight className="size-3.5 transition-transform group-data-panel-open:rotate-90" aria-hidden />
        {title}
      </Collapsible.Trigger>
      <Collapsible.Panel className="pt-2">{children}</Collapsible.Panel>
    </Collapsible.Root>
  );
}
