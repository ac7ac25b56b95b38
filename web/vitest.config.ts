import { basename } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** timed are the files that measure time, which another file beside them on the same processors would take from them. */
const timed = ['test/minute.test.ts', 'test/slow.test.ts'];

/** long are the files that take the longest. They start first, so that none of them runs alone at the end. */
const long = ['operator.test.ts', 'pages.test.ts', 'trading.test.ts', 'explorer.test.ts'];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const first = long.flatMap((name) => sorted.filter(({ moduleId }) => basename(moduleId) === name));
    return [...first, ...sorted.filter((file) => !first.includes(file))];
  }
}

/** browser is what all files in test/ have in common: one Chromium, and the modules that each worker loaded. */
const browser = {
  globalSetup: 'test/chromium.ts',
  isolate: false,
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 20_000 } },
};

// Unit tests stand beside their code. Tests in test/ drive a real Chromium against the real binary, and each file has
// an exchange of its own. Two files run at once; the timed ones run after them, one by one.
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      { test: { name: 'unit', include: ['client/**/*.test.ts', 'src/**/*.test.ts'], isolate: false, testTimeout: 60_000 } },
      { test: { name: 'bench', include: ['test/bench/bench.ts'], testTimeout: 1_800_000 } },
      {
        test: {
          ...browser,
          name: 'browser',
          include: ['test/**/*.test.ts'],
          exclude: timed,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      { test: { ...browser, name: 'timed', include: timed, maxWorkers: 1, sequence: { groupOrder: 2 } } },
    ],
  },
});
