import { defineConfig } from 'vitest/config';

// Unit tests stand beside what they test. Those in test/ drive a real Chromium against the real binary, one file after
// the other: each has an exchange of its own.
export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['client/**/*.test.ts', 'src/**/*.test.ts'] } },
      { test: { name: 'bench', include: ['test/bench/bench.ts'], testTimeout: 1_800_000 } },
      {
        test: {
          name: 'browser',
          include: ['test/**/*.test.ts'],
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
