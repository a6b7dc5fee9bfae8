import {
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import * as E from 'fp-ts/lib/Either.js'
import { expect, onTestFinished, test } from 'vitest'
import { filesRouteSource, readRoutesOnce } from '../../src/adapters/files/index.js'
import { type Clock, systemClock } from '../../src/ports/clock.js'
import { routeDirectory, type RouteDirectory, routeYaml } from '../contract/route-directory.js'
import { patience, type Watching, watching } from '../contract/route-source.js'

const watchDirectory = ({ path }: RouteDirectory): Watching =>
  watching(filesRouteSource({ directory: path }))

const wheres = (watch: Watching): ReadonlyArray<string> | undefined =>
  watch.latest()?.problems.map(({ where }) => where)

/** Waits until a removal has counted: whatever went at the same time would be gone too. */
const untilQuiet = async (directory: RouteDirectory, watch: Watching): Promise<void> => {
  await directory.write('zz-marker.yaml', routeYaml('marker'))
  await expect.poll(() => watch.route('marker'), patience).toBeDefined()
  await directory.remove('zz-marker.yaml')
  await expect.poll(() => watch.route('marker'), patience).toBeUndefined()
}

test.each([
  ['CRLF', routeYaml('a').replaceAll('\n', '\r\n')],
  ['a byte order mark', `\ufeff${routeYaml('a')}`],
  ['markers and empty documents', `---\n---\n${routeYaml('a')}---\n# nothing\n---\n...\n`],
  ['comments', `# before\n${routeYaml('a')}# after\n`],
])('%s is simply read', async (_, text) => {
  const directory = await routeDirectory()
  await directory.write('a.yaml', text)
  const read = await readRoutesOnce(directory.path)()
  expect(E.isRight(read) && read.right.routes.map(({ metadata }) => metadata.name)).toEqual(['a'])
  expect(E.isRight(read) && read.right.problems).toEqual([])
})

test.each(['', '\n', '# nothing\n', '---\n', '\ufeff', '---\n---\n# c\n'])(
  'a file of nothing is simply read: %j',
  async (text) => {
    const directory = await routeDirectory()
    await directory.write('a.yaml', text)
    expect(await readRoutesOnce(directory.path)()).toEqual(E.right({ routes: [], problems: [] }))
  },
)

test('reading once tells the routes and the problems, by file and document', async () => {
  const directory = await routeDirectory()
  await directory.write('a.yaml', `${routeYaml('a')}---\n${routeYaml('b', 7)}`)
  await directory.write('b.yaml', routeYaml('a', 404))
  const read = await readRoutesOnce(directory.path)()
  expect(E.isRight(read) && read.right).toMatchObject({
    routes: [{ metadata: { name: 'a' }, spec: { respond: { code: 200 } } }],
    problems: [
      { where: 'a.yaml#2', key: { namespace: 'shop', name: 'b' }, keepsLastGood: false },
      { where: 'b.yaml#1', key: { namespace: 'shop', name: 'a' }, keepsLastGood: false },
    ],
  })
  const errors = E.isRight(read) ? read.right.problems.flatMap((problem) => problem.errors) : []
  expect(errors.map(({ path }) => path)).toEqual(['spec.respond.code', 'metadata.name'])
  expect(errors[1]?.message).toContain('a.yaml#1')
})

test('a directory that is not there at the start is a left that names it', async () => {
  const directory = await routeDirectory()
  await directory.write('file', 'not a directory')
  for (const name of ['missing', 'file']) {
    const path = directory.at(name)
    const once = await readRoutesOnce(path)()
    const watched = await watching(filesRouteSource({ directory: path })).ended
    for (const ended of [once, watched]) {
      expect(E.isLeft(ended) && ended.left._tag).toBe('Unavailable')
      expect(E.isLeft(ended) && ended.left.message).toContain(path)
    }
  }
})

test('a directory that vanishes keeps its routes, says so, and comes back as it was', async () => {
  const directory = await routeDirectory()
  await directory.write('a.yaml', routeYaml('a'))
  const watch = watchDirectory(directory)
  await expect.poll(watch.routes, patience).toEqual({ a: 200 })
  const before = watch.route('a')
  await rename(directory.path, `${directory.path}-away`)
  await expect.poll(() => wheres(watch), patience).toEqual(['.'])
  expect(watch.latest()?.problems[0]?.keepsLastGood).toBe(true)
  expect(watch.latest()?.problems[0]?.errors[0]?.message).toContain(directory.path)
  await rename(`${directory.path}-away`, directory.path)
  await expect.poll(() => wheres(watch), patience).toEqual([])
  expect(watch.route('a')).toBe(before)
  await directory.write('b.yaml', routeYaml('b', 404))
  await expect.poll(watch.routes, patience).toEqual({ a: 200, b: 404 })
})

test('a directory that is removed file by file, and made again, loses nothing meanwhile', async () => {
  const directory = await routeDirectory()
  for (const name of ['a', 'b', 'c']) await directory.write(`${name}.yaml`, routeYaml(name))
  const watch = watchDirectory(directory)
  await expect.poll(watch.routes, patience).toEqual({ a: 200, b: 200, c: 200 })
  await rm(directory.path, { recursive: true })
  await expect.poll(() => wheres(watch), patience).toEqual(['.'])
  await mkdir(`${directory.path}-new`)
  for (const name of ['a', 'b', 'c'])
    await writeFile(`${directory.path}-new/${name}.yaml`, routeYaml(name))
  await rename(`${directory.path}-new`, directory.path)
  await expect.poll(() => wheres(watch), patience).toEqual([])
  expect(watch.states.map(({ routes }) => routes.length)).toEqual([3, 3, 3])
})

test('files below count, by both extensions; hidden ones and others do not', async () => {
  const directory = await routeDirectory()
  await directory.write('a.yml', routeYaml('a'))
  await directory.write('deep/down/b.yaml', routeYaml('b'))
  await directory.write('.hidden.yaml', routeYaml('c'))
  await directory.write('.git/d.yaml', routeYaml('d'))
  await directory.write('README.md', '# not YAML: {')
  await directory.write('e.yaml.bak', 'not YAML: {')
  const watch = watchDirectory(directory)
  await expect.poll(watch.routes, patience).toEqual({ a: 200, b: 200 })
  await directory.write('deep/new/f.yaml', routeYaml('f'))
  await expect.poll(watch.routes, patience).toEqual({ a: 200, b: 200, f: 200 })
  await directory.write('deep/new/f.yaml', routeYaml('f', 404))
  await expect.poll(watch.routes, patience).toEqual({ a: 200, b: 200, f: 404 })
  expect(wheres(watch)).toEqual([])
})

test('a mounted ConfigMap is read through its links, and swapped as a whole', async () => {
  const directory = await routeDirectory()
  await directory.write('..2026_01/a.yaml', routeYaml('a'))
  await directory.write('..2026_01/b.yaml', routeYaml('b'))
  await symlink('..2026_01', directory.at('..data'))
  for (const name of ['a', 'b', 'c'])
    await symlink(`..data/${name}.yaml`, directory.at(`${name}.yaml`))
  await directory.write('..2026_01/c.yaml', routeYaml('c'))
  const watch = watchDirectory(directory)
  await expect.poll(watch.routes, patience).toEqual({ a: 200, b: 200, c: 200 })
  await directory.write('..2026_02/a.yaml', routeYaml('a', 404))
  await directory.write('..2026_02/c.yaml', routeYaml('c'))
  await symlink('..2026_02', directory.at('..data_tmp'))
  await rename(directory.at('..data_tmp'), directory.at('..data'))
  await directory.remove('b.yaml')
  await directory.remove('..2026_01')
  await expect.poll(watch.routes, patience).toEqual({ a: 404, c: 200 })
  expect(wheres(watch)).toEqual([])
})

test('links that lead back are survived, and a directory with two names is read once', async () => {
  const directory = await routeDirectory()
  await directory.write('sub/a.yaml', routeYaml('a'))
  await symlink('..', directory.at('sub/back'))
  await symlink('.', directory.at('sub/self'))
  await symlink('sub', directory.at('zzz-sub'))
  const read = await readRoutesOnce(directory.path)()
  expect(E.isRight(read) && read.right.routes).toHaveLength(1)
  expect(E.isRight(read) && read.right.problems).toEqual([])
})

test('a part that cannot be read keeps its routes and is named', async () => {
  const directory = await routeDirectory()
  await directory.write('a.yaml', routeYaml('a'))
  await mkdir(`${directory.path}-elsewhere`)
  await writeFile(`${directory.path}-elsewhere/b.yaml`, routeYaml('b'))
  await symlink(`${directory.path}-elsewhere`, directory.at('mount'))
  const watch = watchDirectory(directory)
  await expect.poll(watch.routes, patience).toEqual({ a: 200, b: 200 })
  await rename(`${directory.path}-elsewhere`, `${directory.path}-away`)
  await expect.poll(() => wheres(watch), patience).toEqual(['mount/'])
  await untilQuiet(directory, watch)
  expect(watch.routes()).toEqual({ a: 200, b: 200 })
  expect(watch.latest()?.problems[0]?.keepsLastGood).toBe(true)
})

test('however a file is saved, its route is never gone', async () => {
  const directory = await routeDirectory()
  const path = directory.at('a.yaml')
  await writeFile(path, routeYaml('a'))
  const watch = watchDirectory(directory)
  await expect.poll(watch.routes, patience).toEqual({ a: 200 })
  await truncate(path)
  await writeFile(path, routeYaml('a', 201))
  await expect.poll(watch.routes, patience).toEqual({ a: 201 })
  await rm(path)
  await writeFile(path, routeYaml('a', 202))
  await expect.poll(watch.routes, patience).toEqual({ a: 202 })
  await rename(path, `${path}~`)
  await writeFile(path, routeYaml('a', 203))
  await expect.poll(watch.routes, patience).toEqual({ a: 203 })
  await rename(path, directory.at('b.yaml'))
  await writeFile(directory.at('b.yaml'), routeYaml('a', 204))
  await expect.poll(watch.routes, patience).toEqual({ a: 204 })
  await untilQuiet(directory, watch)
  for (const { routes } of watch.states)
    expect(routes.map(({ metadata }) => metadata.name)).toContain('a')
  expect(watch.route('a')?.metadata).toMatchObject({ uid: 'file:shop/a', generation: 5 })
})

test('a file that is written in place, with its old time and size, is read again', async () => {
  const directory = await routeDirectory()
  const path = directory.at('a.yaml')
  const time = new Date('2026-01-31T12:00:00Z')
  await writeFile(path, routeYaml('a', 200))
  await utimes(path, time, time)
  const watch = watchDirectory(directory)
  await expect.poll(watch.routes, patience).toEqual({ a: 200 })
  await writeFile(path, routeYaml('a', 404))
  await utimes(path, time, time)
  await expect.poll(watch.routes, patience).toEqual({ a: 404 })
})

/** How many things in the file system this process watches, as the kernel counts them. */
const kernelWatches = async (): Promise<number> => {
  const files = await readdir('/proc/self/fdinfo')
  const infos = await Promise.all(
    files.map((file) => readFile(`/proc/self/fdinfo/${file}`, 'utf8').catch(() => '')),
  )
  return infos.join('').split('inotify wd:').length - 1
}

test('an abort leaves no watch and no timer behind', async () => {
  const directory = await routeDirectory()
  await directory.write('sub/a.yaml', routeYaml('a'))
  const timers = new Set<object>()
  const clock: Clock = {
    nowMs: systemClock.nowMs,
    after: (delayMs, callback) => {
      const timer = {}
      timers.add(timer)
      const cancel = systemClock.after(delayMs, () => {
        timers.delete(timer)
        callback()
      })
      return () => {
        timers.delete(timer)
        cancel()
      }
    },
  }
  const watchesBefore = await kernelWatches()
  const watch = watching(filesRouteSource({ directory: directory.path, clock }))
  await expect.poll(watch.routes, patience).toEqual({ a: 200 })
  await expect.poll(kernelWatches, patience).toBe(watchesBefore + 2)
  await expect.poll(() => timers.size, patience).toBeGreaterThan(0)
  watch.abort()
  expect(await watch.ended).toEqual(E.right(undefined))
  expect(timers.size).toBe(0)
  expect(await kernelWatches()).toBe(watchesBefore)
})

test('watching ends at once when it is aborted amid a scan', async () => {
  const directory = await routeDirectory()
  for (let i = 0; i < 200; i += 1) await directory.write(`${String(i)}.yaml`, '')
  const stop = new AbortController()
  const ended = filesRouteSource({ directory: directory.path }).watch(() => {
    throw new Error('told after the abort')
  }, stop.signal)()
  onTestFinished(() => {
    stop.abort()
  })
  stop.abort()
  expect(await ended).toEqual(E.right(undefined))
})
