import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { basename, dirname, resolve } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'

/** A file that no other process of this machine keeps a roster in, as far as the system can tell. */
export interface RosterLock {
  /** Leaves it to others. It is left to them also when the process ends, however that ends. */
  readonly release: () => Promise<void>
}

/**
 * Takes the file of a roster for this process alone. Left says, for people, that another one has it.
 *
 * On Linux it is a name of the kernel (an abstract socket) that only one process can have, and that is free again as
 * soon as that has ended, also if it is killed: nothing is left behind that somebody would have to judge. The file is
 * told by its directory and its name in it, so that links and relative paths lead to the same one. Elsewhere, and
 * between machines or containers that do not share their network, nobody is kept from it: there `filesRosterStore`
 * lets the writes of all but one fail.
 */
export const lockRoster = async (given: string): Promise<E.Either<string, RosterLock>> => {
  const path = resolve(given)
  const name = process.platform === 'linux' ? await nameOf(path) : undefined
  return name === undefined ? E.right(noLock) : take(name, path)
}

const noLock: RosterLock = { release: () => Promise.resolve() }

/** The leading zero makes it a name that is in no directory. `undefined` where there is no place for the file. */
const nameOf = async (path: string): Promise<string | undefined> => {
  try {
    const { dev, ino } = await stat(dirname(path), { bigint: true })
    const digest = createHash('sha256')
      .update(`${dev}:${ino}:${basename(path)}`)
      .digest('hex')
    return `\0edgewright-roster-${digest}`
  } catch {
    return undefined
  }
}

const take = (name: string, path: string): Promise<E.Either<string, RosterLock>> =>
  new Promise((done) => {
    const server = createServer((socket) => socket.destroy())
    server.unref()
    server.on('error', (error) =>
      done('code' in error && error.code === 'EADDRINUSE' ? E.left(taken(path)) : E.right(noLock)),
    )
    server.listen(name, () =>
      done(E.right({ release: () => new Promise((ended) => server.close(() => ended())) })),
    )
  })

const taken = (path: string): string =>
  `another process keeps its list of Envoys in ${path}: end that one first, or give each a file of its own`
