import { globSync, readFileSync, writeFileSync } from "node:fs";
import { brotliCompressSync, gzipSync } from "node:zlib";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** Address of `npm run dev`. The development server of Vite forwards all API calls to it. */
const SERVICE = process.env["PURSER_URL"] ?? "http://127.0.0.1:3300";

/** Without these groups, every icon shared by two pages would be a separate file, and the first page would load fifty files. */
const GROUPS = [
  // Loaded after the page is shown. It is the only large module that can wait.
  {
    name: "charts",
    test: /node_modules\/(recharts|victory-vendor|d3-|@reduxjs|react-redux|redux|immer|reselect|es-toolkit|decimal)/,
    includeDependenciesRecursively: false,
    priority: 2,
  },
  {
    name: "shared",
    test: /node_modules|dashboard\/src\/(api|frame|ui|format)\//,
    minShareCount: 2,
    priority: 1,
  },
];

export default defineConfig({
  plugins: [react(), tailwindcss(), preloadFonts(), compress()],
  build: {
    // The first versions that support light-dark().
    target: ["chrome123", "firefox120", "safari17.5"],
    // The service sends a strict policy: nothing may be inlined as data.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { output: { codeSplitting: { groups: GROUPS } } },
  },
  server: {
    host: "127.0.0.1",
    // Keeps the browser's Host header, because the service compares it with the Origin of every write.
    proxy: Object.fromEntries(
      ["/manage", "/v1", "/docs", "/openapi"].map((path) => [path, { target: SERVICE, changeOrigin: false }]),
    ),
  },
});

/** One for text, one for code. */
const FONTS = 2;

/** The fonts load together with the scripts. Otherwise the browser would load them after its first layout, and then lay out the page again. */
function preloadFonts(): Plugin {
  return {
    name: "preload-fonts",
    transformIndexHtml: {
      order: "post",
      handler: (_html, { bundle }) => {
        if (bundle === undefined) return [];
        const fonts = Object.keys(bundle).filter((file) => /-latin-wght-normal-[^/]*\.woff2$/.test(file));
        if (fonts.length !== FONTS) throw new Error(`found ${fonts.length} fonts to preload, not ${FONTS}`);
        return fonts.map((file) => ({
          tag: "link",
          attrs: { rel: "preload", as: "font", type: "font/woff2", href: `/${file}`, crossorigin: "" },
          injectTo: "head",
        }));
      },
    },
  };
}

/** Compresses the files at build time. The service sends them unchanged. */
function compress(): Plugin {
  let directory = "";
  return {
    name: "compress",
    apply: "build",
    configResolved: ({ build }) => {
      directory = build.outDir;
    },
    closeBundle: () => {
      for (const file of globSync(`${directory}/**/*.{js,css,svg,html}`)) {
        const content = readFileSync(file);
        writeFileSync(`${file}.br`, brotliCompressSync(content));
        writeFileSync(`${file}.gz`, gzipSync(content));
      }
    },
  };
}
