import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    globalSetup: "service/test/postgres.ts",
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Long enough that only what never comes fails. A promised delay is told where it is tested.
    expect: { poll: { timeout: 20_000 } },
    // Each file starts its own services. Three at once were no faster on two cores, and made tests of time limits fail.
    maxWorkers: 2,
    // Files share what was loaded and compiled before them: the service has hundreds of modules. Nothing mocks a module.
    isolate: false,
    projects: [
      { extends: true, test: { name: "service", include: ["service/**/*.test.ts"] } },
      { extends: true, test: { name: "conformance", include: ["proof/conformance/**/*.test.ts"] } },
      { extends: true, test: { name: "recipes", include: ["proof/recipes/**/*.test.ts"] } },
      {
        extends: true,
        test: {
          name: "dashboard",
          include: ["dashboard/test/**/*.test.ts"],
          // A journey is many steps of a real browser, which a busy machine takes its time for.
          testTimeout: 90_000,
          // A browser on a busy machine may miss a moment. A journey that fails twice is broken.
          retry: 1,
          globalSetup: ["service/test/postgres.ts", "dashboard/test/build.ts"],
        },
      },
      { test: { name: "checker", include: ["proof/{faults,bench,witness}/**/*.test.ts"] } },
    ],
  },
});
