import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, onTestFinished, test } from 'vitest'
import { filesRosterStore } from '../../src/adapters/files/roster-store.js'
import { virtualClock } from '../../src/adapters/memory/index.js'
import type { Roster } from '../../src/core/roster.js'
import { encodeRoster } from '../../src/core/roster/codec.js'
import { keepRoster } from '../../src/host/keep-roster.js'
import type { RosterStore } from '../../src/ports/roster-store.js'
import { routeDirectory } from '../contract/route-directory.js'
import { anEntry, aRoster } from '../support/roster.js'

const roster = aRoster(anEntry('a'), anEntry('b'))

interface Place {
  readonly path: string
  readonly directory: string
  readonly files: () => Promise<ReadonlyArray<string>>
}

const aPlace = async (): Promise<Place> => {
  const { at, path: directory } = await routeDirectory()
  return {
    path: at('roster.json'),
    directory,
    files: async () => (await readdir(directory)).sort(),
  }
}

const loaded = async (path: string): Promise<RosterStore> => {
  const store = filesRosterStore({ path })
  expect(await store.load()()).toMatchObject({ _tag: 'Right' })
  return store
}

const save = (store: RosterStore, what: Roster = roster) => store.save(what)()
const load = (path: string) => filesRosterStore({ path }).load()()

/** Takes the powers of root away, if the test has them: files are then refused as to anybody else. */
const asNobody = async <A>(task: () => Promise<A>): Promise<A> => {
  if (process.geteuid?.() !== 0) return task()
  process.seteuid?.(65_534)
  try {
    return await task()
  } finally {
    process.seteuid?.(0)
  }
}

describe('a roster in a file', () => {
  test('is read by its owner only, and lies there alone', async () => {
    const { path, files } = await aPlace()
    await save(await loaded(path))
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(await files()).toEqual(['roster.json'])
    expect(E.right(await readFile(path, 'utf8'))).toEqual(encodeRoster(roster))
  })

  test('is written beside the old one, and a save that was cut off is cleared away by the next load', async () => {
    const { path, files } = await aPlace()
    await save(await loaded(path))
    const cut = `${path}.00000000-0000-4000-8000-000000000000.tmp`
    await writeFile(cut, '{"version":1,')
    await writeFile(`${path}.backup.tmp`, 'not ours')
    expect(await load(path)).toEqual(E.right(roster))
    expect(await files()).toEqual(['roster.json', 'roster.json.backup.tmp'])
  })

  test('that was never read is not overwritten', async () => {
    const { path } = await aPlace()
    await writeFile(path, 'precious')
    const store = filesRosterStore({ path })
    expect(await save(store)).toMatchObject({
      left: { message: `the roster ${path} cannot be written: it was not read yet` },
    })
    expect(await store.load()()).toMatchObject({ left: { _tag: 'Unreadable' } })
    expect(await save(store)).toMatchObject({ left: { _tag: 'Unavailable' } })
    expect(await readFile(path, 'utf8')).toBe('precious')
  })

  test('that is gone is written anew', async () => {
    const { path } = await aPlace()
    const store = await loaded(path)
    await save(store)
    await rm(path)
    expect(await save(store)).toEqual(E.right(undefined))
    expect(await load(path)).toEqual(E.right(roster))
  })

  test('belongs to the process that was the first to write after reading', async () => {
    const { path, files } = await aPlace()
    const old = await loaded(path)
    expect(await save(old)).toEqual(E.right(undefined))
    const young = await loaded(path)
    expect(await save(young)).toEqual(E.right(undefined))
    for (let i = 0; i < 2; i += 1)
      expect(await save(old, new Map())).toMatchObject({
        left: { message: expect.stringContaining('give each a file of its own') as unknown },
      })
    expect(await save(young, aRoster(anEntry('c')))).toEqual(E.right(undefined))
    expect(await load(path)).toEqual(E.right(aRoster(anEntry('c'))))
    expect(await files()).toEqual(['roster.json'])
  })

  test('of which both have found none belongs to the first, too', async () => {
    const { path } = await aPlace()
    const [a, b] = [await loaded(path), await loaded(path)]
    expect(await save(a)).toEqual(E.right(undefined))
    expect(await save(b)).toMatchObject({ left: { _tag: 'Superseded' } })
    expect(await load(path)).toEqual(E.right(roster))
  })

  test('is missed when it is gone, and is written anew', async () => {
    const { path } = await aPlace()
    const store = await loaded(path)
    expect(await store.isThere?.()()).toEqual(E.right(true))
    await save(store)
    expect(await store.isThere?.()()).toEqual(E.right(true))
    await rm(path)
    expect(await store.isThere?.()()).toEqual(E.right(false))
    expect(await save(store)).toEqual(E.right(undefined))
    expect(await load(path)).toEqual(E.right(roster))
  })
})

describe('a place that cannot be used is told of with its path and the reason', () => {
  const messageOf = (result: E.Either<{ readonly message: string }, unknown>): string =>
    E.isLeft(result) ? result.left.message : 'it succeeded'

  test('a directory that is missing: nobody knows what was in it', async () => {
    const { directory } = await aPlace()
    const path = join(directory, 'missing', 'roster.json')
    const message = messageOf(await load(path))
    expect(message).toBe(`the roster ${path} cannot be read: there is no such file or directory`)
  })

  test('a directory in the place of the file', async () => {
    const { path } = await aPlace()
    await mkdir(path)
    expect(messageOf(await load(path))).toMatch(/is left as it is: it is not a regular file/)
  })

  test('a file in the place of the directory', async () => {
    const { path } = await aPlace()
    await writeFile(path, '')
    expect(messageOf(await load(join(path, 'roster.json')))).toMatch(/it is not a directory/)
  })

  test('a file that may not be read', async () => {
    const { path, directory } = await aPlace()
    await save(await loaded(path))
    await chmod(dirname(directory), 0o755)
    await chmod(path, 0)
    expect(messageOf(await asNobody(() => load(path)))).toMatch(/cannot be read: permission denied/)
  })

  test('a directory that may not be written to', async () => {
    const { path, directory, files } = await aPlace()
    const store = await loaded(path)
    await save(store)
    await chmod(dirname(directory), 0o755)
    await chmod(path, 0o644)
    await chmod(directory, 0o555)
    const result = await asNobody(() => save(store, new Map()))
    await chmod(directory, 0o755)
    expect(messageOf(result)).toMatch(/cannot be written: permission denied/)
    expect(await files()).toEqual(['roster.json'])
    expect(await load(path)).toEqual(E.right(roster))
  })

  test('a device in the place of the file', async () => {
    const { directory } = await aPlace()
    const path = join(directory, 'roster.json')
    await symlink('/dev/full', path)
    expect(messageOf(await load(path))).toMatch(/it is not a regular file/)
  })
})

const childPath = fileURLToPath(new URL('../support/roster-child.mjs', import.meta.url))

interface Child {
  /** The nodes of the last save that has succeeded. */
  readonly saved: () => number
  readonly kill: () => Promise<void>
  /** What it said when it ended by itself. */
  readonly complaint: () => string
  readonly until: (isTrue: () => boolean) => Promise<void>
}

const aChild = (path: string, shell = ''): Child => {
  const command = `${shell} exec "$0" "$1" "$2"`
  const child = spawn('/bin/sh', ['-c', command, process.execPath, childPath, path])
  let saved = 0
  let complaint = ''
  createInterface({ input: child.stdout }).on('line', (line) => (saved = Number(line)))
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()))
  const ended = once(child, 'close')
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(kill)
  return {
    saved: () => saved,
    kill,
    complaint: () => complaint,
    until: async (isTrue) => {
      while (!isTrue() && child.exitCode === null)
        await Promise.race([once(child.stdout, 'data'), ended])
    },
  }
}

describe('a process that saves all the time', () => {
  test('and is killed at any moment leaves all that it has saved, and no more than it was about to', async () => {
    const { path, files } = await aPlace()
    let before = 0
    for (let round = 0; round < 12; round += 1) {
      const child = aChild(path)
      await child.until(() => child.saved() > before + 3 + round)
      await new Promise((resolve) => setTimeout(resolve, round % 4))
      await child.kill()
      const read = await load(path)
      const size = E.isRight(read) ? read.right.size : -1
      expect(child.complaint()).toBe('')
      expect([child.saved(), child.saved() + 1]).toContain(size)
      expect(await files()).toEqual(['roster.json'])
      before = size
    }
  })

  test('and finds no room leaves the last roster that had some', async () => {
    const { path, files } = await aPlace()
    // In blocks of 512 bytes: 64 KiB.
    const child = aChild(path, 'ulimit -f 128;')
    await child.until(() => child.complaint() !== '')
    await child.kill()
    expect(child.complaint()).toMatch(/cannot be written: EFBIG/)
    expect(child.saved()).toBeGreaterThan(50)
    // Before the next load, which would clear it away.
    expect(await files()).toEqual(['roster.json'])
    const read = await load(path)
    expect(E.isRight(read) && read.right.size).toBe(child.saved())
  })
})

test('a control plane whose roster was taken over serves on, and releases nothing', async () => {
  const { path } = await aPlace()
  const admitted: Array<string> = []
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const keeperOn = async () => {
    const keeper = keepRoster(
      { store: filesRosterStore({ path }), clock: virtualClock() },
      stop.signal,
    )
    await keeper.loaded
    keeper.attach({
      admit: (id) => admitted.push(id),
      memory: () => new Map(),
      forget: () => 'Unknown',
    })
    const come = async (id: string): Promise<void> => {
      const node = { id, cluster: 'edge' }
      const changed = new Promise<void>((resolve) => {
        const stopListening = keeper.onChange(() => {
          if (!admitted.includes(id)) return
          stopListening()
          resolve()
        })
      })
      keeper.observer({ _tag: 'NodeIdentified', stream: id, node, dataPlane: 'edge', known: true })
      await changed
    }
    return { keeper, come }
  }
  const old = await keeperOn()
  await old.come('a')
  const young = await keeperOn()
  await young.come('b')
  await old.come('c')
  expect(admitted).toEqual(['a', 'b', 'c'])
  expect(old.keeper.gate()).toMatchObject({ _tag: 'RosterUnsaved' })
  expect(young.keeper.gate()).toMatchObject({ _tag: 'Starting' })
  const read = await load(path)
  expect(E.isRight(read) && [...read.right.keys()]).toEqual(['a', 'b'])
})
