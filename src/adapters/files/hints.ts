import { type FSWatcher, watch } from 'node:fs'
import { join } from 'node:path'
import type { ListedDirectory } from './list.js'

/** Watches directories. */
export interface Hints {
  /**
   * Watches these directories from now on, and no others. Says whether there is a new one among
   * them.
   */
  readonly follow: (directories: ReadonlyArray<ListedDirectory>) => boolean
  readonly close: () => void
}

/**
 * Calls `onHint` when something may have changed in a directory, or below it.
 *
 * Only a hint: a watch may fail at any time, when the kernel has no more of them, say, or the
 * directory lies on a network. So failures are passed over; whoever follows again tries again.
 * Watches do not keep the process alive.
 */
export const hintsOf = (root: string, onHint: () => void): Hints => {
  const watchers = new Map<string, FSWatcher>()
  const drop = (key: string): void => {
    watchers.get(key)?.close()
    watchers.delete(key)
  }
  const add = (key: string, path: string): void => {
    try {
      const watcher = watch(path, { persistent: false }, onHint)
      watcher.on('error', () => {
        drop(key)
      })
      watchers.set(key, watcher)
    } catch {
      // The next scan comes without it, only later.
    }
  }
  let followed: ReadonlySet<string> = new Set()
  return {
    follow: (directories) => {
      const wanted = new Map(directories.map(({ path, id }) => [`${id} ${path}`, join(root, path)]))
      for (const key of [...watchers.keys()]) if (!wanted.has(key)) drop(key)
      for (const [key, path] of wanted) if (!watchers.has(key)) add(key, path)
      const isNew = [...wanted.keys()].some((key) => !followed.has(key))
      followed = new Set(wanted.keys())
      return isNew
    },
    close: () => {
      for (const key of [...watchers.keys()]) drop(key)
    },
  }
}
