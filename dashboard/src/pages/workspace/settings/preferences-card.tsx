import { Card } from "../../../ui/card.tsx";
import { Choices } from "../../../ui/choices.tsx";
import { chooseClock, chooseTheme, useClock, useTheme } from "../../../ui/preferences.ts";
import type { Clock } from "../../../words/times.ts";

const THEMES = [
  { value: "system", name: "As the system", note: "Follows what this machine prefers." },
  { value: "light", name: "Light", note: "Ink on paper." },
  { value: "dark", name: "Dark", note: "For the night shift." },
] as const;

const CLOCKS = [
  { value: "utc", name: "UTC", note: "The same for everybody, and as the API says it." },
  { value: "local", name: "This machine's", note: "By the time zone of this browser." },
] as const satisfies readonly { value: Clock; name: string; note: string }[];

export function PreferencesCard() {
  const theme = useTheme();
  const clock = useClock();
  return (
    <Card title="Look and clock" note="On this browser alone.">
      <div className="flex flex-col gap-4">
        <Choices
          label="Look"
          name="theme"
          choices={THEMES}
          chosen={theme}
          onChange={({ target }) => {
            const chosen = THEMES.find(({ value }) => value === target.value);
            if (chosen !== undefined) chooseTheme(chosen.value);
          }}
        />
        <Choices
          label="Times"
          name="clock"
          choices={CLOCKS}
          chosen={clock}
          onChange={({ target }) => {
            const chosen = CLOCKS.find(({ value }) => value === target.value);
            if (chosen !== undefined) chooseClock(chosen.value);
          }}
        />
      </div>
    </Card>
  );
}
