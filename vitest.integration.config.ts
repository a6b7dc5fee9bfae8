import { defineConfig } from 'vitest/config'
import { reporters } from './test/support/reporters.js'
import { alias } from './vitest.config.js'

/** Tests that need a real Envoy: one after the other, so that none takes another's time. */
export default defineConfig({
  resolve: { alias },
  test: {
    name: 'integration',
    reporters: reporters('integration'),
    include: ['test/integration/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
