import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiProblem } from "./api/api-problem.ts";
import { queryClient, whenSignedOut } from "./api/query-client.ts";
import { sessionQuery } from "./api/session.ts";
import { router } from "./router.tsx";
import "./tokens.css";
import { Toasts } from "./ui/toast.tsx";

whenSignedOut(() => {
  queryClient.removeQueries({ queryKey: sessionQuery.queryKey });
  void router.invalidate();
});

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");
createRoot(root, {
  // What the API answered stands on the page. The console is for what nobody expected.
  onCaughtError: (error) => {
    if (!(error instanceof ApiProblem)) console.error(error);
  },
}).render(
  <StrictMode>
    {/* The policy forbids style elements: what a component would put into one is not needed here. */}
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <Toasts>
          <RouterProvider router={router} />
        </Toasts>
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
