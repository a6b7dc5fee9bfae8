import { defineConfig } from 'vitest/config'
import e2e from './vitest.e2e.config.js'

/** What is measured on a real Kubernetes API server, in the world of the end-to-end tests: npm run bench:e2e. */
export default defineConfig({
  ...e2e,
  test: {
    ...e2e.test,
    name: 'bench-e2e',
    reporters: 'default',
    include: ['bench/e2e/**/*.test.ts'],
  },
})
