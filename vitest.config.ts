import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    globalSetup: "service/test/postgres.ts",
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Long, so that a slow machine does not fail a poll. Tests of a guaranteed delay set their own timeout.
    expect: { poll: { timeout: 20_000 } },
    // Each file starts its own services. Three files at once were no faster on two cores and failed tests of time limits.
    maxWorkers: 2,
    // Files share loaded modules, because the service has hundreds. No test mocks a module.
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
          // Browser tests have many steps and are slow on a busy machine.
          testTimeout: 90_000,
          // Timing in a browser can vary on a busy machine. A test that fails twice is broken.
          retry: 1,
          globalSetup: ["service/test/postgres.ts", "dashboard/test/build.ts"],
        },
      },
      {
        test: {
          name: "checker",
          include: ["proof/{docs,faults,bench,mutations,witness,cells}/**/*.test.ts"],
        },
      },
    ],
  },
});
