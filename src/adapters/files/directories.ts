import type { FileMemory } from './file-memory.js'
import { covers, type Gap } from './gap.js'
import type { ListedDirectory } from './list.js'

/**
 * By path: the directories in which there was something when they were last seen, and all that are
 * there.
 */
export type DirectoryIds = ReadonlyMap<string, string>

/** What became of the directories. */
export interface Replacement {
  /** Those that are others than before, and in which nothing is. */
  readonly gaps: ReadonlyArray<Gap>
  readonly ids: DirectoryIds
}

/**
 * Finds the directories that were replaced by empty ones, though objects of theirs are known: as
 * when a repository is removed and cloned anew, or a volume is not mounted. The removal of each
 * single file proves nothing then.
 *
 * A directory that is removed for good, and one that stays and is emptied, are no replacements. A
 * replaced one stays so until a file of routes is in it or below it. Costs nothing but a comparison
 * of ids where there is none.
 */
export const replacementOf = (
  known: DirectoryIds,
  files: ReadonlyMap<string, FileMemory>,
  listed: ReadonlyArray<ListedDirectory>,
  paths: Iterable<string>,
): Replacement => {
  const ids = new Map(listed.map(({ path, id }) => [path, id]))
  const lost = [...known].filter(([path, id]) => ids.get(path) !== id)
  if (lost.length === 0) return { gaps: [], ids }
  const filled = directoriesOf(paths)
  const inhabited = directoriesOf(
    [...files.values()].filter(({ entries }) => entries.size > 0).map(({ path }) => path),
  )
  const gaps: Array<Gap> = []
  for (const [path, id] of lost) {
    if (!inhabited.has(path) || filled.has(path)) continue
    if (ids.has(path)) gaps.push({ path, message })
    ids.set(path, id)
  }
  const isOutermost = (gap: Gap): boolean =>
    !gaps.some((other) => other !== gap && covers(other, gap.path))
  return { gaps: gaps.filter(isOutermost), ids }
}

const message = 'was replaced and is empty; what it had is kept until a file is in it'

/** All directories above some files. */
const directoriesOf = (paths: Iterable<string>): ReadonlySet<string> => {
  const directories = new Set<string>()
  for (const path of paths)
    for (let at = path; at !== '';) {
      at = at.slice(0, Math.max(0, at.lastIndexOf('/')))
      if (directories.has(at)) break
      directories.add(at)
    }
  return directories
}
