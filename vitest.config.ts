import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^bridle$/, replacement: source('index.ts') },
      { find: /^bridle\/(contracts|models|host|store|testing)$/, replacement: source('$1/index.ts') },
      { find: /^bridle\/mcp$/, replacement: source('mcp/client/index.ts') },
      { find: /^bridle\/server$/, replacement: source('mcp/server/index.ts') },
    ],
  },
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts'],
    setupFiles: ['test/setup.ts'],
    // Only what hangs is stopped: many tests start processes, and the machine may be small and busy.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    maxWorkers: 2,
  },
});
