import { defineConfig } from 'vitest/config'
import { reporters } from './test/support/reporters.js'
import { alias } from './vitest.config.js'

/**
 * Tests on a real Kubernetes API server, which they share: one file after the other, so that none disturbs another's
 * cluster. They need a world of their own: npm run test:e2e.
 */
export default defineConfig({
  resolve: { alias },
  test: {
    name: 'e2e',
    reporters: reporters('e2e'),
    include: ['test/e2e/**/*.test.ts'],
    globalSetup: ['test/e2e/support/global-setup.ts'],
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    teardownTimeout: 60_000,
  },
})
