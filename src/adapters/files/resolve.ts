import { compareStrings } from '../../core/order.js'
import type { Entry, FileMemory } from './file-memory.js'

/** The objects of a directory, each name once: by `nameOf`, in its order. */
export type Winners = ReadonlyMap<string, Winner>

/** The one form of an object that is served. */
export interface Winner {
  readonly path: string
  readonly entry: Entry
}

/**
 * Gives each name to the first place in order that has it: by path, in UTF-16 code units.
 *
 * What is kept of a directory that was replaced (`isGhost`), and what is missing, serves only where no
 * other place has the name, so that an object which moves to another file changes places at once.
 * Costs O(n log n) in the number of objects.
 */
export const resolve = (
  files: ReadonlyMap<string, FileMemory>,
  isGhost: (path: string) => boolean = () => false,
): Winners => {
  const inOrder = [...files.values()]
    .sort((a, b) => compareStrings(a.path, b.path))
    .map((file) => ({ ...file, ghost: isGhost(file.path) }))
  const rankOf = (entry: Entry, ghost: boolean): number => (isMissing(entry) ? 2 : ghost ? 1 : 0)
  const winners = new Map<string, Winner>()
  for (const rank of [0, 1, 2])
    for (const { path, entries, ghost } of inOrder)
      for (const [name, entry] of entries)
        if (rankOf(entry, ghost) === rank && !winners.has(name)) winners.set(name, { path, entry })
  return new Map([...winners].sort(([a], [b]) => compareStrings(a, b)))
}

/** True for what is served only since its removal does not count yet. */
export const isMissing = (entry: Entry): boolean => entry.missingSinceMs !== undefined
