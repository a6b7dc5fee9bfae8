import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { showIoError } from './io-error.js'
import { list, type Listing } from './list.js'
import { readFile, type Stamped } from './read-file.js'
import type { Reading } from './reading.js'
import { turnsOf } from './turns.js'

/** How many files are read at once: enough to keep Node's four I/O threads busy. */
const concurrency = 16

/** What a look at a directory gave. */
export interface Scan extends Omit<Listing, 'files'> {
  /** By path. */
  readonly files: ReadonlyMap<string, Reading>
  /** What the next scan need not read again. */
  readonly cache: ScanCache
}

export type ScanCache = ReadonlyMap<string, Stamped>

/**
 * Looks at all files of a directory, and reads those that have changed since the scan that made
 * `cache`.
 *
 * Never rejects; a left says why the directory cannot be read. Costs one `stat` for each file.
 * Files are parsed in turns of the event loop, one at a time. Ends early, with part of the files,
 * when `isStopped`.
 */
export const scan = async (
  root: string,
  cache: ScanCache,
  isStopped: () => boolean,
): Promise<E.Either<string, Scan>> => {
  try {
    const { files: paths, directories, gaps } = await list(root, isStopped)
    const stamped = new Map<string, Stamped>()
    const work = paths.values()
    const inTurns = turnsOf(isStopped)
    const worker = async (): Promise<void> => {
      for (const path of work) {
        if (isStopped()) return
        const read = await readFile(join(root, path), cache.get(path), inTurns)
        if (read !== undefined) stamped.set(path, read)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, worker))
    const files = new Map([...stamped].map(([path, { reading }]) => [path, reading]))
    return E.right({ files, directories, gaps, cache: stamped })
  } catch (error) {
    return E.left(`the directory ${root} cannot be read: ${showIoError(error)}`)
  }
}
