import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { reporters } from './test/support/reporters.js'

const source = (path: string): string => fileURLToPath(new URL(`src/${path}`, import.meta.url))

/** Tests import the package by its public names, from the sources. */
export const alias = [
  { find: /^edgewright$/, replacement: source('index.ts') },
  { find: /^edgewright\/(k8s|xds|memory|files)$/, replacement: source('adapters/$1/index.ts') },
  { find: /^edgewright\/(host|testing)$/, replacement: source('$1/index.ts') },
]

execFileSync('node', ['tools/extract-examples.mjs'], {
  cwd: fileURLToPath(new URL('.', import.meta.url)),
})

export default defineConfig({
  test: {
    reporters: reporters('tests'),
    projects: [
      {
        resolve: { alias },
        test: {
          name: 'pure',
          include: [
            'test/{unit,property,model,simulation,transcripts,golden,tidy,types}/**/*.test.ts',
          ],
          isolate: false,
          testTimeout: 60_000,
        },
      },
      {
        resolve: { alias },
        test: {
          name: 'io',
          include: ['test/{io,contract,docs}/**/*.test.ts'],
          testTimeout: 60_000,
        },
      },
    ],
  },
})
