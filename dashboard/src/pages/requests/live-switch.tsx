import { Switch } from "../../ui/switch.tsx";

export function LiveSwitch({
  isLive,
  hasTrouble,
  onChange,
}: {
  isLive: boolean;
  hasTrouble: boolean;
  onChange: (isLive: boolean) => void;
}) {
  return (
    <div title="The key l does the same">
      <Switch
        isOn={isLive}
        onChange={onChange}
        label={
          <>
            Live tail
            <span
              aria-hidden
              className={
                isLive && !hasTrouble
                  ? "size-2 animate-pulse rounded-full bg-good"
                  : "size-2 rounded-full bg-line-strong"
              }
            />
          </>
        }
      />
    </div>
  );
}
