import { Switch as BaseSwitch } from "@base-ui/react/switch";
import type { ReactNode } from "react";

/** Something that is on or off, at once. */
export function Switch({
  label,
  isOn,
  onChange,
}: {
  label: ReactNode;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
}) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the switch within is its control
    <label className="inline-flex h-8 items-center gap-2 px-1 text-form font-medium select-none">
      <BaseSwitch.Root
        checked={isOn}
        onCheckedChange={onChange}
        className="flex h-5 w-9 shrink-0 rounded-full border border-line-strong bg-sunken p-0.5 transition-colors data-checked:border-transparent data-checked:bg-accent"
      >
        <BaseSwitch.Thumb className="size-3.5 rounded-full bg-line-strong transition-[translate] data-checked:translate-x-4 data-checked:bg-on-accent" />
      </BaseSwitch.Root>
      {label}
    </label>
  );
}
