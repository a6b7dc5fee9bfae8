import { afterAll, beforeAll, expect, test } from 'vitest'
import { packageRoot } from '../../src/host/cli/package.js'
import { type Example, manifestOf, packingLine, unpackExample } from '../support/examples.js'

/** An installation takes its time. */
const timeoutMs = 300_000

let example: Example | undefined
beforeAll(async () => {
  example = await unpackExample('property-test')
}, timeoutMs)
afterAll(() => example?.dispose())

test.each(['custom-host', 'property-test'])('%s needs what we test with', (name) => {
  const own = manifestOf(`${packageRoot}/examples/${name}`)
  const { edgewright, ...others } = { ...own.dependencies, ...own.devDependencies }
  expect(edgewright).toBeDefined()
  expect(manifestOf(packageRoot).devDependencies).toMatchObject(others)
})

test(
  "a user's property tests pass from the tarball, and fail as their README shows",
  async () => {
    const [passing = '', failing = ''] = example?.blocks('sh') ?? []
    expect(passing).toContain(packingLine)
    const [shown = ''] = example?.blocks('text') ?? []
    const passed = await example?.run(passing)
    expect(passed?.out).toMatch(/Tests +3 passed/)
    expect(passed?.code).toBe(0)
    const failed = await example?.run(failing)
    expect(failed?.code).toBe(1)
    for (const line of shown.split('\n')) expect(failed?.out).toContain(line)
  },
  timeoutMs,
)
