import * as E from 'fp-ts/lib/Either.js'
import { expect, test } from 'vitest'
import {
  maxDepth,
  maxDirectories,
  maxFileBytes,
  maxFiles,
  readRoutesOnce,
  type SourceState,
} from '../../src/adapters/files/index.js'
import { list } from '../../src/adapters/files/list.js'
import { showIoError } from '../../src/adapters/files/io-error.js'
import { routeDirectory, type RouteDirectory, routeYaml } from '../contract/route-directory.js'

const read = async ({ path }: RouteDirectory): Promise<SourceState> => {
  const state = await readRoutesOnce(path)()
  if (E.isLeft(state)) throw new Error(state.left.message)
  return state.right
}
const limits = { files: maxFiles, directories: maxDirectories, depth: maxDepth }
const namesOf = ({ routes }: SourceState): ReadonlyArray<string> =>
  routes.map(({ metadata }) => metadata.name)

test('a file of exactly the largest size is read, and one byte more is not', async () => {
  const directory = await routeDirectory()
  const padded = (name: string, bytes: number): string => {
    const text = routeYaml(name)
    const line = `---\n# ${'-'.repeat(993)}\n`
    const rest = bytes - text.length
    return text + line.repeat(rest / line.length) + ' '.repeat(rest % line.length)
  }
  await directory.write('a.yaml', padded('a', maxFileBytes))
  await directory.write('b.yaml', padded('b', maxFileBytes + 1))
  const state = await read(directory)
  expect(namesOf(state)).toEqual(['a'])
  expect(state.problems.map(({ where }) => where)).toEqual(['b.yaml'])
})

test('files of a hundred thousand documents are one problem each', async () => {
  const directory = await routeDirectory()
  for (const name of ['a', 'b', 'c', 'd'])
    await directory.write(`${name}.yaml`, '---\na: 1\n'.repeat(maxFileBytes / 9))
  await directory.write('good.yaml', routeYaml('good'))
  const state = await read(directory)
  expect(namesOf(state)).toEqual(['good'])
  expect(state.problems.map(({ where }) => where)).toEqual(['a.yaml', 'b.yaml', 'c.yaml', 'd.yaml'])
})

test('directories are followed to a bounded depth, and what is deeper is named', async () => {
  const directory = await routeDirectory()
  const levels = (depth: number): string => 'd/'.repeat(depth)
  await directory.write(`${levels(maxDepth)}a.yaml`, routeYaml('a'))
  await directory.write(`${levels(maxDepth + 1)}b.yaml`, routeYaml('b'))
  const state = await read(directory)
  expect(namesOf(state)).toEqual(['a'])
  expect(state.problems.map(({ where }) => where)).toEqual([levels(maxDepth + 1)])
})

test('a bounded number of files is listed, and it is said that there are more', async () => {
  const directory = await routeDirectory()
  for (const name of ['a', 'b/c', 'b/d', 'e']) await directory.write(`${name}.yaml`, '')
  const listed = (files: number) => list(directory.path, () => false, { ...limits, files })
  expect(await listed(4)).toMatchObject({
    files: ['a.yaml', 'b/c.yaml', 'b/d.yaml', 'e.yaml'],
    gaps: [],
  })
  const { files, gaps } = await listed(3)
  expect(files).toEqual(['a.yaml', 'b/c.yaml', 'b/d.yaml'])
  expect(gaps).toEqual([
    { path: '', message: expect.stringMatching(/more than 3 files.*b\/d\.yaml/) as string },
  ])
})

test('a bounded number of directories is followed, and it is said which are not', async () => {
  const directory = await routeDirectory()
  for (const name of ['a', 'b/c', 'd']) await directory.write(`${name}/x.yaml`, '')
  const { files, gaps } = await list(directory.path, () => false, { ...limits, directories: 3 })
  expect(files).toEqual(['a/x.yaml'])
  expect(gaps.map(({ path }) => path)).toEqual(['b/c', 'd'])
})

test('an error of the file system is told in words', () => {
  const withCode = (code: string): Error => Object.assign(new Error(`${code}: open 'x'`), { code })
  expect(showIoError(withCode('EACCES'))).toBe('permission denied')
  expect(showIoError(withCode('EODD'))).toBe("EODD: open 'x'")
  expect(showIoError('odd')).toBe('odd')
})
