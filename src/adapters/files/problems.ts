import { compareStrings } from '../../core/order.js'
import type { SourceProblem } from '../../ports/route-source.js'
import { duplicate, type FileMemory, type FileProblem } from './file-memory.js'
import { covers, type Gap } from './gap.js'
import { showPlace } from './reading.js'
import { isMissing, type Winners } from './resolve.js'

/**
 * How many problems are told of one file, and how many gaps of the directory: each may become a
 * line in a log, and a file of the largest size has room for some ten thousand. Whoever mends the
 * first sees the next.
 */
export const maxProblems = 20

/**
 * All that is wrong in a directory, in the order of the paths, then of the documents in a file.
 *
 * Each place is there once, and the directory itself is one. `complaints` are about it as a whole.
 */
export const problemsOf = (
  files: ReadonlyMap<string, FileMemory>,
  winners: Winners,
  gaps: ReadonlyArray<Gap>,
  complaints: ReadonlyArray<string>,
): ReadonlyArray<SourceProblem> =>
  [
    ...gapProblems(files, winners, gaps, complaints),
    ...[...files.values()].map((file) => ({
      path: file.path,
      problems: fileProblems(file, winners),
    })),
  ]
    .sort((a, b) => compareStrings(a.path, b.path))
    .flatMap(({ problems }) => problems)

/** The problems of one path. */
interface Placed {
  readonly path: string
  readonly problems: ReadonlyArray<SourceProblem>
}

const gapProblems = (
  files: ReadonlyMap<string, FileMemory>,
  winners: Winners,
  gaps: ReadonlyArray<Gap>,
  complaints: ReadonlyArray<string>,
): ReadonlyArray<Placed> => {
  const hidden = [...winners.values()].filter(({ path }) => files.get(path)?.hidden === true)
  const keeps = (gap: Gap): boolean => hidden.some(({ path }) => covers(gap, path))
  const place = (path: string, messages: ReadonlyArray<string>, keepsLastGood: boolean): Placed => {
    const where = path === '' ? '.' : `${path}/`
    const errors = messages.map((message) => ({ path: '', message }))
    return { path, problems: [{ where, key: undefined, errors, keepsLastGood }] }
  }
  const below = gaps
    .filter(({ path }) => path !== '')
    .sort((a, b) => compareStrings(a.path, b.path))
  const rest = below.slice(maxProblems)
  const ofRoot = gaps.filter(({ path }) => path === '')
  const messages = [
    ...ofRoot.map(({ message }) => message),
    ...complaints,
    ...(rest.length === 0 ? [] : [`has ${rest.length} more directories that are not read`]),
  ]
  const keepsLastGood = complaints.length > 0 || [...ofRoot, ...rest].some(keeps)
  return [
    ...(messages.length === 0 ? [] : [place('', messages, keepsLastGood)]),
    ...below.slice(0, maxProblems).map((gap) => place(gap.path, [gap.message], keeps(gap))),
  ]
}

const fileProblems = (file: FileMemory, winners: Winners): ReadonlyArray<SourceProblem> => {
  const keeps = (holds: ReadonlyArray<string>): boolean =>
    holds.some((name) => winners.get(name)?.path === file.path)
  const all = [...file.problems, ...losersOf(file, winners)].sort(
    (a, b) => (a.document ?? 0) - (b.document ?? 0),
  )
  const first = all.slice(0, maxProblems).map(({ document, key, errors, holds }) => ({
    where: showPlace(file.path, document),
    key,
    errors,
    keepsLastGood: keeps(holds),
  }))
  const rest = all.slice(maxProblems)
  if (rest.length === 0) return first
  const errors = [{ path: '', message: `and ${rest.length} more of its documents are not served` }]
  // Many of them hold one and the same list.
  const keepsLastGood = [...new Set(rest.map(({ holds }) => holds))].some(keeps)
  return [...first, { where: file.path, key: undefined, errors, keepsLastGood }]
}

/** The objects of a file whose names are served from another one. */
const losersOf = ({ path, entries }: FileMemory, winners: Winners): ReadonlyArray<FileProblem> =>
  [...entries].flatMap(([name, entry]) => {
    const winner = winners.get(name)
    if (winner === undefined || winner.path === path || entry.held || isMissing(entry)) return []
    return [duplicate(entry, showPlace(winner.path, winner.entry.document))]
  })
