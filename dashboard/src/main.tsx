import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiProblem } from "./api/api-problem.ts";
import { onSessionExpired, queryClient } from "./api/query-client.ts";
import { sessionQuery } from "./api/session.ts";
import { router } from "./router.tsx";
import "./tokens.css";
import { rememberFocus } from "./ui/dialog.tsx";
import { Toasts } from "./ui/toast.tsx";

onSessionExpired(() => {
  queryClient.removeQueries({ queryKey: sessionQuery.queryKey });
  void router.invalidate();
});

rememberFocus();

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");
createRoot(root, {
  // API errors are shown on the page; log only unexpected ones.
  onCaughtError: (error) => {
    if (!(error instanceof ApiProblem)) console.error(error);
  },
}).render(
  <StrictMode>
    {/* The content security policy forbids style elements. */}
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <Toasts>
          <RouterProvider router={router} />
        </Toasts>
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
