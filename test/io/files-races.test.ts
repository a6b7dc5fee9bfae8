import type * as FileSystem from 'node:fs'
import type * as Files from 'node:fs/promises'
import { appendFile, rm, writeFile } from 'node:fs/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { filesRouteSource } from '../../src/adapters/files/index.js'
import { readFile as readInTurns, type Stamped } from '../../src/adapters/files/read-file.js'
import { isSameReading } from '../../src/adapters/files/reading.js'
import { turnsOf } from '../../src/adapters/files/turns.js'
import { routeDirectory, routeYaml } from '../contract/route-directory.js'
import { patience, watching } from '../contract/route-source.js'

const readFile = (path: string, known: Stamped | undefined): Promise<Stamped | undefined> =>
  readInTurns(
    path,
    known,
    turnsOf(() => false),
  )

/** What happens to the file system at moments that no test could hit otherwise. */
interface Events {
  beforeOpen: (path: string) => Promise<void>
  afterRead: (path: string) => Promise<void>
  watch: 'refused' | 'failing' | undefined
}

const events = vi.hoisted((): Events => ({
  beforeOpen: () => Promise.resolve(),
  afterRead: () => Promise.resolve(),
  watch: undefined,
}))

vi.mock('node:fs/promises', async (importOriginal) => {
  const actual = await importOriginal<typeof Files>()
  const open = async (path: string, flags: number): Promise<Files.FileHandle> => {
    await events.beforeOpen(path)
    const file = await actual.open(path, flags)
    const read = file.read.bind(file) as (...args: ReadonlyArray<unknown>) => Promise<unknown>
    return Object.assign(file, {
      read: async (...args: ReadonlyArray<unknown>) => {
        const result = await read(...args)
        await events.afterRead(path)
        return result
      },
    })
  }
  return { ...actual, open }
})

vi.mock('node:fs', async (importOriginal) => {
  const actual = await importOriginal<typeof FileSystem>()
  const watch = (path: string, options: object, listener: () => void): FileSystem.FSWatcher => {
    if (events.watch === 'refused') throw Object.assign(new Error('no more'), { code: 'ENOSPC' })
    const watcher = actual.watch(path, options, listener)
    if (events.watch === 'failing') setImmediate(() => watcher.emit('error', new Error('EMFILE')))
    return watcher
  }
  return { ...actual, watch }
})

afterEach(() => {
  events.beforeOpen = () => Promise.resolve()
  events.afterRead = () => Promise.resolve()
  events.watch = undefined
})

test('a file that changes while it is read is read again', async () => {
  const directory = await routeDirectory()
  await directory.write('a.yaml', routeYaml('a', 200))
  let changes = 0
  events.afterRead = async (path) => {
    changes += 1
    if (changes === 1) await writeFile(path, routeYaml('a', 404))
  }
  const read = await readFile(directory.at('a.yaml'), undefined)
  expect(read?.reading).toMatchObject({
    documents: [{ content: { spec: { respond: { code: 404 } } } }],
  })
})

test('a file that never stops changing is not taken for read, and is looked at again', async () => {
  const directory = await routeDirectory()
  await directory.write('a.yaml', routeYaml('a'))
  events.afterRead = (path) => appendFile(path, '# more\n')
  const read = await readFile(directory.at('a.yaml'), undefined)
  const again = await readFile(directory.at('a.yaml'), read)
  expect(read?.reading._tag).toBe('Unreadable')
  expect(read?.stamp).toBeUndefined()
  expect(isSameReading(again?.reading, read?.reading)).toBe(false)
})

test('a file that goes before it is opened is not there', async () => {
  const directory = await routeDirectory()
  await directory.write('a.yaml', routeYaml('a'))
  events.beforeOpen = (path) => rm(path)
  expect(await readFile(directory.at('a.yaml'), undefined)).toBeUndefined()
})

test('a file that grows beyond the limit before it is opened is not read', async () => {
  const directory = await routeDirectory()
  await directory.write('a.yaml', routeYaml('a'))
  events.beforeOpen = (path) => writeFile(path, '#'.repeat(2 * 1024 * 1024))
  const reads = vi.fn(() => Promise.resolve())
  events.afterRead = reads
  expect((await readFile(directory.at('a.yaml'), undefined))?.reading._tag).toBe('Unreadable')
  expect(reads).not.toHaveBeenCalled()
})

test('a file with a known stamp is not opened', async () => {
  const directory = await routeDirectory()
  await directory.write('a.yaml', routeYaml('a'))
  const known = await readFile(directory.at('a.yaml'), undefined)
  const opens = vi.fn(() => Promise.resolve())
  events.beforeOpen = opens
  expect(await readFile(directory.at('a.yaml'), known)).toBe(known)
  expect(opens).not.toHaveBeenCalled()
})

test.each(['refused', 'failing'] as const)(
  'changes arrive, only later, where watches of the kernel are %s',
  async (watch) => {
    events.watch = watch
    const directory = await routeDirectory()
    await directory.write('a.yaml', routeYaml('a'))
    const told = watching(filesRouteSource({ directory: directory.path }))
    await expect.poll(told.routes, patience).toEqual({ a: 200 })
    await directory.write('b.yaml', routeYaml('b'))
    await expect.poll(told.routes, patience).toEqual({ a: 200, b: 200 })
    await directory.remove('a.yaml')
    await expect.poll(told.routes, patience).toEqual({ b: 200 })
  },
)
