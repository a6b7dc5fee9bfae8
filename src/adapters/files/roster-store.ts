import { randomUUID } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { constants, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Roster } from '../../core/roster.js'
import { decodeRoster, encodeRoster, maxRosterLength } from '../../core/roster/codec.js'
import type { RosterError, RosterStore } from '../../ports/roster-store.js'
import { showIoError } from './io-error.js'

export interface FilesRosterOptions {
  /** The file. Its directory must be there, and be writable: a new file is written beside the old one. */
  readonly path: string
}

/**
 * A roster in a file, which only its owner can read.
 *
 * A save writes a new file beside it, has the disk confirm it, and puts it in the place of the old one
 * in one step, which the disk confirms too: a crash at any time leaves the old file or the new one. What a
 * crash leaves beside it is cleared away by the next load.
 *
 * A file is written only by who has read it or was the last to write it. So one that cannot be read is
 * never overwritten, and of two processes on one file the one that has written first after reading goes
 * on, while the saves of the other fail (`Superseded`). One that is deleted is written anew. That is no lock
 * beside the file, and so none is ever left behind: in a Pod that is replaced, neither process ids nor host names would
 * tell whose it was. Who would rather not begin than fail later has `lockRoster`.
 */
export const filesRosterStore = ({ path: given }: FilesRosterOptions): RosterStore => {
  const path = resolve(given)
  /** The file that is ours to replace; `undefined` as long as none was read. */
  let ours: Seen | undefined
  let last: Promise<unknown> = Promise.resolve()
  const inOrder = <A>(
    task: () => Promise<E.Either<RosterError, A>>,
  ): Promise<E.Either<RosterError, A>> => {
    const next = last.then(task)
    last = next
    return next
  }
  return {
    load: () => () =>
      inOrder(async () => {
        const read = await readRoster(path)
        if (E.isLeft(read)) return read
        ours = read.right.seen
        return E.right(read.right.roster)
      }),
    save: (roster) => () =>
      inOrder(async () => {
        if (ours === undefined) return unavailable(path, 'written', 'it was not read yet')
        const text = encodeRoster(roster)
        if (E.isLeft(text)) return unavailable(path, 'written', text.left)
        return replace(path, text.right, ours, (seen) => {
          ours = seen
        })
      }),
    isThere: () => () => inOrder(async () => isThere(path, ours)),
  }
}

/** What tells one file from another; the time of its renaming is no part of it. */
type Seen = string

const nothingSeen: Seen = 'there is none'

const seenIn = ({ dev, ino, size, mtimeNs }: BigIntStats): Seen =>
  [dev, ino, size, mtimeNs].join(':')

interface Read {
  readonly roster: Roster
  readonly seen: Seen
}

const readRoster = async (path: string): Promise<E.Either<RosterError, Read>> => {
  try {
    await clearAway(path)
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(unlessGone)
    if (file === undefined) return E.right({ roster: new Map(), seen: nothingSeen })
    try {
      const stats = await file.stat({ bigint: true })
      if (!stats.isFile()) return unreadable(path, 'it is not a regular file')
      if (stats.size > 3n * BigInt(maxRosterLength)) return unreadable(path, 'it is too large')
      const bytes = await file.readFile()
      const roster = decodeRoster(bytes.toString('utf8'))
      if (E.isLeft(roster)) return unreadable(path, roster.left)
      return E.right({ roster: roster.right, seen: seenIn(stats) })
    } finally {
      await file.close()
    }
  } catch (error) {
    return unavailable(path, 'read', showIoError(error))
  }
}

/** Removes what saves have left unfinished. Fails if there is no directory: then nobody knows what was in it. */
const clearAway = async (path: string): Promise<void> => {
  const prefix = `${basename(path)}.`
  for (const name of await readdir(dirname(path)))
    if (name.startsWith(prefix) && unfinished.test(name.slice(prefix.length)))
      await rm(join(dirname(path), name), { force: true }).catch(() => undefined)
}

const unfinished = /^[0-9a-f-]{36}\.tmp$/

const replace = async (
  path: string,
  text: string,
  ours: Seen,
  onReplaced: (seen: Seen) => void,
): Promise<E.Either<RosterError, void>> => {
  const beside = `${path}.${randomUUID()}.tmp`
  try {
    const written = await writeNew(beside, text)
    const there = await stat(path, { bigint: true }).catch(unlessGone)
    if (there !== undefined && seenIn(there) !== ours) {
      await rm(beside, { force: true })
      return superseded(path)
    }
    await rename(beside, path)
    onReplaced(written)
    await syncDirectory(dirname(path))
    return E.right(undefined)
  } catch (error) {
    await rm(beside, { force: true }).catch(() => undefined)
    return unavailable(path, 'written', showIoError(error))
  }
}

const isThere = async (
  path: string,
  ours: Seen | undefined,
): Promise<E.Either<RosterError, boolean>> => {
  try {
    const there = await stat(path, { bigint: true }).catch(unlessGone)
    const seen = there === undefined ? nothingSeen : seenIn(there)
    return E.right(ours === undefined || seen === ours)
  } catch (error) {
    return unavailable(path, 'read', showIoError(error))
  }
}

const takenOver =
  'somebody else has changed it. If another control plane uses it, give each a file of its own; ' +
  'to go on with what is there now, start this one again'

/** Resolves once the disk has it. */
const writeNew = async (path: string, text: string): Promise<Seen> => {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
    return seenIn(await file.stat({ bigint: true }))
  } finally {
    await file.close()
  }
}

/** A renaming is a change of the directory. */
const syncDirectory = async (path: string): Promise<void> => {
  const directory = await open(path, constants.O_RDONLY)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

const unlessGone = (error: unknown): undefined => {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
  throw error
}

const unavailable = (
  path: string,
  done: 'read' | 'written',
  why: string,
): E.Either<RosterError, never> =>
  E.left({ _tag: 'Unavailable', message: `the roster ${path} cannot be ${done}: ${why}` })

const superseded = (path: string): E.Either<RosterError, never> =>
  E.left({ _tag: 'Superseded', message: `the roster ${path} cannot be written: ${takenOver}` })

const unreadable = (path: string, why: string): E.Either<RosterError, never> =>
  E.left({
    _tag: 'Unreadable',
    message:
      `the roster ${path} cannot be read, and is left as it is: ${why}. Only it says which Envoys may ` +
      'still serve deleted routes: restore it; or, if all of them are connected or gone for good, move it away',
  })
