import { ApiProblem } from "../../api/api-problem.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { Door } from "./door.tsx";

/** The API never says which of them it was. */
export function isSpent(error: unknown): boolean {
  return error instanceof ApiProblem && error.code === "link_invalid";
}

/** A link that opens nothing, and what to do now. */
export function SpentLink({ title, whatToDo }: { title: string; whatToDo: string }) {
  return (
    <Door title={title}>
      <div className="flex flex-col gap-4">
        <Callout tone="warn" title="This link was used, or its time is over">
          <p>{whatToDo}</p>
        </Callout>
        <ButtonLink to="/log-in">Log in</ButtonLink>
      </div>
    </Door>
  );
}

/** Mail and chat programs cut links at the #. */
export function CutLink({ title }: { title: string }) {
  return (
    <Door title={title}>
      <div className="flex flex-col gap-4">
        <Callout tone="warn" title="This link is not whole">
          <p>
            What stands after its <code className="font-mono">#</code> is missing. A reload takes it away,
            too: copy all of the link and open it again.
          </p>
        </Callout>
        <ButtonLink to="/log-in">Log in</ButtonLink>
      </div>
    </Door>
  );
}
