import { compareStrings } from '../../core/order.js'
import type { SourceProblem } from '../../ports/route-source.js'
import { duplicate, type Entry, type FileMemory, type FileProblem } from './file-memory.js'
import { showPlace } from './reading.js'

/** The objects of a directory, each name once, and what is wrong in it. */
export interface Resolved {
  /** By `showKey`, in its order. */
  readonly winners: ReadonlyMap<string, Winner>
  /** In the order of the paths, then of the documents in a file. */
  readonly problems: ReadonlyArray<SourceProblem>
}

/** A part of the directory at which nobody can look: what it had may still be there. */
export interface Gap {
  /** A path relative to the directory; empty for the directory itself. */
  readonly path: string
  readonly message: string
}

/** True for the paths of all files that may be in a gap. */
export const covers = (gap: Gap, path: string): boolean =>
  gap.path === '' || path.startsWith(`${gap.path}/`)

/** The one form of an object that is served. */
export interface Winner {
  readonly path: string
  readonly entry: Entry
}

/**
 * Gives each name to the first place in order that has it: by path, in UTF-16 code units.
 *
 * What is missing serves only where no other place has the name, so that an object which moves to another
 * file changes places at once. Costs O(n log n) in the number of objects.
 */
export const resolve = (
  files: ReadonlyMap<string, FileMemory>,
  gaps: ReadonlyArray<Gap>,
): Resolved => {
  const inOrder = [...files.values()].sort((a, b) => compareStrings(a.path, b.path))
  const winners = new Map<string, Winner>()
  for (const missing of [false, true])
    for (const { path, entries } of inOrder)
      for (const [name, entry] of entries)
        if (isMissing(entry) === missing && !winners.has(name)) winners.set(name, { path, entry })
  const placed = [
    ...gaps.map((gap) => placeGap(gap, files, winners)),
    ...inOrder.flatMap((file) => placeProblems(file, winners)),
  ]
  return {
    winners: new Map([...winners].sort(([a], [b]) => compareStrings(a, b))),
    problems: placed
      .sort((a, b) => compareStrings(a.path, b.path) || a.document - b.document)
      .map(({ problem }) => problem),
  }
}

/** A problem and where it belongs in the order of all. */
interface Placed {
  readonly path: string
  readonly document: number
  readonly problem: SourceProblem
}

type Winners = ReadonlyMap<string, Winner>

const isMissing = (entry: Entry): boolean => entry.missingSinceMs !== undefined

const placeGap = (gap: Gap, files: ReadonlyMap<string, FileMemory>, winners: Winners): Placed => {
  const keepsLastGood = [...winners.values()].some(
    ({ path }) => files.get(path)?.hidden === true && covers(gap, path),
  )
  const where = gap.path === '' ? '.' : `${gap.path}/`
  const errors = [{ path: '', message: gap.message }]
  const problem = { where, key: undefined, errors, keepsLastGood }
  return { path: gap.path, document: 0, problem }
}

const placeProblems = (file: FileMemory, winners: Winners): ReadonlyArray<Placed> =>
  [...file.problems, ...losersOf(file, winners)].map(({ document, key, errors, holds }) => {
    const where = showPlace(file.path, document)
    const keepsLastGood = holds.some((name) => winners.get(name)?.path === file.path)
    const problem = { where, key, errors, keepsLastGood }
    return { path: file.path, document: document ?? 0, problem }
  })

/** The objects of a file whose names are served from another one. */
const losersOf = ({ path, entries }: FileMemory, winners: Winners): ReadonlyArray<FileProblem> =>
  [...entries].flatMap(([name, entry]) => {
    const winner = winners.get(name)
    if (winner === undefined || winner.path === path || entry.held || isMissing(entry)) return []
    return [duplicate(entry, showPlace(winner.path, winner.entry.document))]
  })
