import { isDeepStrictEqual } from 'node:util'
import type { SourceState } from '../../ports/route-source.js'
import { type DirectoryIds, replacementOf } from './directories.js'
import { type Entry, type FileMemory, forget, keep, remember, unknownFile } from './file-memory.js'
import { backendsIn, type Forms, formsOf, hasBackends, routesIn } from './forms.js'
import { covers, type Gap } from './gap.js'
import type { ListedDirectory } from './list.js'
import { problemsOf } from './problems.js'
import { isSameReading, type Reading } from './reading.js'
import { isMissing, resolve, type Winners } from './resolve.js'

/** What is known of a directory of objects. */
export type FilesState = { readonly _tag: 'Starting' } | Following

export interface Following {
  readonly _tag: 'Following'
  /** By path. */
  readonly files: ReadonlyMap<string, FileMemory>
  readonly directories: DirectoryIds
  /**
   * By path, what tells that something has happened in a directory, though nothing of it is to be
   * seen.
   */
  readonly touched: ReadonlyMap<string, string>
  readonly gaps: ReadonlyArray<Gap>
  /** When the directory was last seen to have changed. */
  readonly quietSinceMs: number
  /** By name, what is served. */
  readonly forms: Forms
  readonly published: SourceState
}

export type FilesEvent =
  | {
      readonly _tag: 'Scanned'
      /** When the scan began and ended, in milliseconds of one clock. */
      readonly startedAtMs: number
      readonly endedAtMs: number
      /** By path, relative to the directory, with `/` between its parts. */
      readonly files: ReadonlyMap<string, Reading>
      readonly directories: ReadonlyArray<ListedDirectory>
      readonly gaps: ReadonlyArray<Gap>
    }
  | {
      readonly _tag: 'DirectoryUnreadable'
      readonly nowMs: number
      readonly message: string
    }

export type FilesEffect =
  | { readonly _tag: 'Publish'; readonly state: SourceState }
  /** Scan at this time at the latest. */
  | { readonly _tag: 'ScanAgain'; readonly atMs: number }
  /** There is nothing to follow. */
  | { readonly _tag: 'GiveUp'; readonly message: string }

export type Step = readonly [state: FilesState, effects: ReadonlyArray<FilesEffect>]

/**
 * How long nothing may change before a missing object counts as removed: editors and `git checkout`
 * write a file by removing the old one first.
 */
export const quietMs = 250

/**
 * How long a removal waits for quiet before it is told: who writes many files is done by then, as a
 * rule.
 */
export const restlessMs = 2_000

export const initial: FilesState = { _tag: 'Starting' }

/**
 * Takes in one scan of a directory. Nothing is removed by mistake: an object goes only after two
 * scans, a quiet time apart, have seen all of its file, or that there is none, and the object not
 * in it.
 *
 * | state     | event                                | next               | effects       |
 * | --------- | ------------------------------------ | ------------------ | ------------- |
 * | Starting  | DirectoryUnreadable                  | Starting           | GiveUp        |
 * | Starting  | Scanned                              | Following          | Publish       |
 * | Following | DirectoryUnreadable                  | all objects held   | Publish, once |
 * | Following | Scanned, nothing new                 | the same           |               |
 * | Following | Scanned, an object is new or changed | with its new form  | Publish       |
 * | Following | Scanned, an object is of no use      | held               | Publish, once |
 * | Following | Scanned, an object is missing        | missing since then | ScanAgain     |
 * | Following | Scanned, it is there again, or held  | not missing        |               |
 * | Following | Scanned, still missing, not quiet    | missing            | ScanAgain     |
 * | Following | Scanned, not quiet for `restlessMs`  | missing            | Publish, once |
 * | Following | Scanned, still missing, and quiet    | without it         | Publish       |
 *
 * Quiet: nothing in the whole directory has changed for `quietMs`, not even between two scans, as
 * when a file goes and comes back. A directory that never rests puts off removals without an end,
 * and is told of: what is gone from it looks like what is about to be written again. How an object
 * is held (when invalid, or unreadable) or missing is decided file by file, in `remember`; a
 * directory that was replaced by an empty one is a gap, by `replacementOf`. Publish comes only
 * where the objects or the problems differ from those of the last one, and before ScanAgain.
 */
export const step = (state: FilesState, event: FilesEvent): Step => {
  switch (event._tag) {
    case 'DirectoryUnreadable': {
      const { nowMs, message } = event
      if (state._tag === 'Starting') return [state, [{ _tag: 'GiveUp', message }]]
      return observe(state, {
        startedAtMs: nowMs,
        endedAtMs: nowMs,
        files: new Map(),
        directories: [],
        gaps: [{ path: '', message }],
      })
    }
    case 'Scanned':
      return observe(state, event)
  }
}

type Scan = Omit<FilesEvent & { readonly _tag: 'Scanned' }, '_tag'>

const observe = (state: FilesState, listed: Scan): Step => {
  const before = state._tag === 'Following' ? state : undefined
  const known = before?.files ?? new Map<string, FileMemory>()
  const { gaps, ids: directories } = replacementOf(
    before?.directories ?? new Map<string, string>(),
    known,
    listed.directories,
    listed.files.keys(),
  )
  const scan = { ...listed, gaps: [...listed.gaps, ...gaps] }
  const touched = new Map(listed.directories.map((each) => [each.path, each.touched]))
  const changed =
    before === undefined || differs(before, scan) || !isDeepStrictEqual(before.touched, touched)
  if (!changed && ![...known.values()].some(hasMissing))
    return [{ ...before, directories, touched }, []]

  const quietSinceMs = changed ? scan.endedAtMs : before.quietSinceMs
  const files = takeIn(known, scan, quietSinceMs)
  const winners = resolve(files, (path) => gaps.some((gap) => covers(gap, path)))
  const forms = formsOf(winners, before?.forms ?? new Map())
  const problems = problemsOf(files, winners, scan.gaps, restlessness(winners, scan.endedAtMs))
  const published = sharing(before?.published, {
    routes: routesIn(forms),
    ...(speaksOfBackends(before, forms) && { backends: backendsIn(forms) }),
    problems,
  })
  const next = {
    _tag: 'Following' as const,
    files,
    directories,
    touched,
    gaps: scan.gaps,
    quietSinceMs,
    forms,
    published,
  }
  return [next, [...news(before, next), ...later(next)]]
}

const differs = ({ files, gaps }: Following, scan: Scan): boolean =>
  !isDeepStrictEqual(gaps, scan.gaps) ||
  [...scan.files].some(([path, reading]) => {
    const known = files.get(path)
    return known === undefined || known.hidden || !isSameReading(known.reading, reading)
  }) ||
  [...files.values()].some(
    ({ path, reading, hidden }) => reading !== undefined && !hidden && !scan.files.has(path),
  )

/** The memories of all files after a scan, without the objects that count as removed by it. */
const takeIn = (
  known: ReadonlyMap<string, FileMemory>,
  scan: Scan,
  quietSinceMs: number,
): ReadonlyMap<string, FileMemory> => {
  const isDue = (entry: Entry): boolean =>
    isMissing(entry) && scan.startedAtMs >= quietSinceMs + quietMs
  const files = new Map<string, FileMemory>()
  for (const path of new Set([...known.keys(), ...scan.files.keys()])) {
    const memory = forget(look(known.get(path) ?? unknownFile(path), scan), isDue)
    if (memory.reading !== undefined || memory.entries.size > 0) files.set(path, memory)
  }
  return files
}

const look = (before: FileMemory, scan: Scan): FileMemory => {
  const reading = scan.files.get(before.path)
  if (reading === undefined && scan.gaps.some((gap) => covers(gap, before.path)))
    return keep(before)
  return isSameReading(before.reading, reading) && !before.hidden
    ? before
    : remember(before, reading, scan.endedAtMs)
}

/**
 * A directory that has had a Service or a slice is the one to say which there are, even if all are gone; of any
 * other the host's context is.
 */
const speaksOfBackends = (before: Following | undefined, forms: Forms): boolean =>
  before?.published.backends !== undefined || hasBackends(forms)

/** What to say of a directory in which removals have waited for long. */
const restlessness = (winners: Winners, nowMs: number): ReadonlyArray<string> => {
  const waiting = [...winners.values()].filter(
    ({ entry: { missingSinceMs } }) =>
      missingSinceMs !== undefined && nowMs - missingSinceMs >= restlessMs,
  ).length
  if (waiting === 0) return []
  const what = waiting === 1 ? '1 removal waits' : `${waiting} removals wait`
  return [`changes all the time: ${what} until nothing has changed for ${quietMs} ms`]
}

/** What is there now, made of the same parts as before where these are equal. */
const sharing = (before: SourceState | undefined, now: SourceState): SourceState => {
  if (before === undefined) return now
  const routes = sameItems(before.routes, now.routes)
  const problems = isDeepStrictEqual(before.problems, now.problems) ? before.problems : now.problems
  const backends = sharedBackends(before.backends, now.backends)
  return routes === before.routes && problems === before.problems && backends === before.backends
    ? before
    : { routes, ...(backends && { backends }), problems }
}

const sharedBackends = (
  before: SourceState['backends'],
  now: SourceState['backends'],
): SourceState['backends'] => {
  if (before === undefined || now === undefined) return now
  const services = sameItems(before.services, now.services)
  const endpointSlices = sameItems(before.endpointSlices, now.endpointSlices)
  return services === before.services && endpointSlices === before.endpointSlices
    ? before
    : { services, endpointSlices }
}

/** The list of before if it has the very same items. */
const sameItems = <A>(before: ReadonlyArray<A>, now: ReadonlyArray<A>): ReadonlyArray<A> =>
  before.length === now.length && before.every((item, index) => item === now[index]) ? before : now

const news = (
  before: Following | undefined,
  { published }: Following,
): ReadonlyArray<FilesEffect> =>
  published === before?.published ? [] : [{ _tag: 'Publish', state: published }]

/** When the missing objects will count as removed, if nothing changes until then. */
const later = ({ files, quietSinceMs }: Following): ReadonlyArray<FilesEffect> =>
  [...files.values()].some(hasMissing) ? [{ _tag: 'ScanAgain', atMs: quietSinceMs + quietMs }] : []

const hasMissing = ({ entries }: FileMemory): boolean => [...entries.values()].some(isMissing)
