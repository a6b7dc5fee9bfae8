import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { filesRouteSource } from '../../src/adapters/files/index.js'
import type { SourceState } from '../../src/ports/route-source.js'
import { badInputs, besideCodes, besideName } from '../contract/bad-inputs.js'
import { makeRouteDirectory, type RouteDirectory, routeYaml } from '../contract/route-directory.js'
import { patience } from '../contract/route-source.js'

// All of them go bad at once in one directory, which is watched meanwhile; the tests look at what came of it.

const rows = badInputs.map((input, i) => ({
  ...input,
  name: `r${String(i)}`,
  file: `r${String(i)}.yaml`,
}))
const stop = new AbortController()
let directory: RouteDirectory & { readonly discard: () => Promise<void> }
let ended: Promise<unknown> = Promise.resolve()
let latest: SourceState = { routes: [], problems: [] }

const codeOf = (name: string): number | undefined =>
  latest.routes.find(({ metadata }) => metadata.name === name)?.spec.respond?.code

beforeAll(async () => {
  directory = await makeRouteDirectory()
  await directory.write('good.yaml', routeYaml('good'))
  await directory.write('to-be-removed.yaml', routeYaml('to-be-removed'))
  for (const { name, file } of rows)
    await directory.write(file, `${routeYaml(name)}---\n${routeYaml(besideName(name))}`)
  const onState = (state: SourceState): void => {
    latest = state
  }
  ended = filesRouteSource({ directory: directory.path }).watch(onState, stop.signal)()
  await until(() => latest.routes.length === 2 + 2 * rows.length)
  expect(latest.problems).toEqual([])

  for (const { put, file, name } of rows) await put(directory, file, name)
  await directory.write('good.yaml', routeYaml('good', 404))
  await until(() => codeOf('good') === 404)
  // Once this removal counts, any removal by mistake would have counted too.
  await directory.remove('to-be-removed.yaml')
  await until(() => codeOf('to-be-removed') === undefined)
}, 60_000)

const until = (holds: () => boolean): Promise<unknown> =>
  vi.waitFor(() => {
    expect(holds()).toBe(true)
  }, patience)

afterAll(async () => {
  stop.abort()
  await ended
  await directory.discard()
})

test('there are at least 50 of them', () => {
  expect(rows.length).toBeGreaterThanOrEqual(50)
  expect(new Set(rows.map(({ title }) => title)).size).toBe(rows.length)
})

test.each(rows)(
  '$title: is told by file and field, and harms nothing',
  ({ name, file, field, message, sparesOthers, keepsLastGood = true }) => {
    const problems = latest.problems.filter(({ where }) => where.split('#')[0] === file)
    expect(problems).toHaveLength(1)
    const errors = problems.flatMap((problem) => problem.errors)
    expect(errors.map(({ path }) => path)).toContain(field)
    expect(errors.map((error) => error.message).join('\n')).toMatch(message)
    expect(problems[0]?.keepsLastGood).toBe(keepsLastGood)
    expect(codeOf(name)).toBe(200)
    expect(codeOf(besideName(name))).toBe(sparesOthers ? besideCodes.after : besideCodes.before)
    expect(codeOf('good')).toBe(404)
  },
)

test('all is well again once the files are', async () => {
  for (const { name, file } of rows) {
    await directory.remove(file)
    await directory.write(file, `${routeYaml(name, 201)}---\n${routeYaml(besideName(name), 201)}`)
  }
  await expect.poll(() => latest.problems, patience).toEqual([])
  expect(latest.routes).toHaveLength(1 + 2 * rows.length)
  for (const { name } of rows) expect(codeOf(name)).toBe(201)
})
