import { defineConfig } from 'vitest/config'

/** Vitest takes the next config above this folder otherwise: in a clone of edgewright, that of its own tests. */
export default defineConfig({})
