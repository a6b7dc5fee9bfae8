import { isDeepStrictEqual } from 'node:util'
import type { EdgeRoute } from '../../core/edge-route.js'
import type { SourceState } from '../../ports/route-source.js'
import { type Entry, type FileMemory, forget, keep, remember, unknownFile } from './file-memory.js'
import type { Reading } from './reading.js'
import { covers, type Gap, resolve, type Resolved } from './resolve.js'
import { routeOf } from './route-form.js'

/** What is known of a directory of EdgeRoutes. */
export type FilesState = { readonly _tag: 'Starting' } | Following

export interface Following {
  readonly _tag: 'Following'
  /** By path. */
  readonly files: ReadonlyMap<string, FileMemory>
  readonly gaps: ReadonlyArray<Gap>
  /** When the directory was last seen to have changed. */
  readonly quietSinceMs: number
  /** By name, the last forms of the objects, those that are gone included: generations must not go back. */
  readonly forms: ReadonlyMap<string, EdgeRoute>
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
 * How long nothing may change before a missing object counts as removed: editors and `git checkout` write a file
 * by removing the old one first.
 */
export const QUIET_MS = 250

/** How long a directory that never becomes quiet can put off a removal. */
export const PATIENCE_MS = 2_000

/**
 * How many objects that are gone are remembered for their generations. Beyond it the oldest is forgotten, and
 * would begin at generation 1 again.
 */
export const MAX_REMEMBERED = 10_000

export const initial: FilesState = { _tag: 'Starting' }

/**
 * Takes in one scan of a directory. Nothing is removed by mistake: an object goes only after two scans, a
 * quiet time apart, have seen all of its file, or that there is none, and the object not in it.
 *
 * | state     | event                                       | next                   | effects           |
 * | --------- | ------------------------------------------- | ---------------------- | ----------------- |
 * | Starting  | DirectoryUnreadable                         | Starting               | GiveUp            |
 * | Starting  | Scanned                                     | Following              | Publish           |
 * | Following | DirectoryUnreadable                         | all objects held       | Publish, once     |
 * | Following | Scanned, nothing new                        | the same               |                   |
 * | Following | Scanned, an object is new or changed        | with its new form      | Publish           |
 * | Following | Scanned, an object is invalid or unreadable | held                   | Publish, once     |
 * | Following | Scanned, an object is missing               | missing since then     | ScanAgain         |
 * | Following | Scanned, it is there again, or held         | not missing            |                   |
 * | Following | Scanned, still missing, not quiet           | missing                | ScanAgain         |
 * | Following | Scanned, still missing, and quiet           | without it             | Publish           |
 *
 * Quiet: nothing has changed for `QUIET_MS`, or the object has been missing for `PATIENCE_MS`. How an object is
 * held or missing is decided file by file, in `remember`. Publish comes only where the routes or the
 * problems differ from those of the last one, and before ScanAgain.
 */
export const step = (state: FilesState, event: FilesEvent): Step => {
  switch (event._tag) {
    case 'DirectoryUnreadable': {
      const { nowMs, message } = event
      if (state._tag === 'Starting') return [state, [{ _tag: 'GiveUp', message }]]
      const gaps = [{ path: '', message }]
      return observe(state, { startedAtMs: nowMs, endedAtMs: nowMs, files: new Map(), gaps })
    }
    case 'Scanned':
      return observe(state, event)
  }
}

type Scan = Omit<FilesEvent & { readonly _tag: 'Scanned' }, '_tag'>

const observe = (state: FilesState, scan: Scan): Step => {
  const before = state._tag === 'Following' ? state : undefined
  const known = before?.files ?? new Map<string, FileMemory>()
  const changed = before === undefined || differs(before, scan)
  if (!changed && ![...known.values()].some(hasMissing)) return [before, []]

  const quietSinceMs = changed ? scan.endedAtMs : Math.min(before.quietSinceMs, scan.endedAtMs)
  const files = takeIn(known, scan, quietSinceMs)
  const { winners, problems } = resolve(files, scan.gaps)
  const forms = formsOf(winners, before?.forms ?? new Map<string, EdgeRoute>())
  const routes = [...winners.keys()].flatMap((name) => forms.get(name) ?? [])
  const published = sharing(before?.published, { routes, problems })
  const next = {
    _tag: 'Following' as const,
    files,
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
    return known === undefined || known.hidden || !isSame(known.reading, reading)
  }) ||
  [...files.values()].some(
    ({ path, reading, hidden }) => reading !== undefined && !hidden && !scan.files.has(path),
  )

const isSame = (a: Reading | undefined, b: Reading | undefined): boolean =>
  a === b || (a?._tag === 'Unreadable' && b?._tag === 'Unreadable' && a.message === b.message)

/** The memories of all files after a scan, without the objects that count as removed by it. */
const takeIn = (
  known: ReadonlyMap<string, FileMemory>,
  scan: Scan,
  quietSinceMs: number,
): ReadonlyMap<string, FileMemory> => {
  const isDue = ({ missingSinceMs }: Entry): boolean =>
    missingSinceMs !== undefined && scan.startedAtMs >= dueMs(missingSinceMs, quietSinceMs)
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
  return isSame(before.reading, reading) && !before.hidden
    ? before
    : remember(before, reading, scan.endedAtMs)
}

const dueMs = (missingSinceMs: number, quietSinceMs: number): number =>
  Math.min(quietSinceMs + QUIET_MS, missingSinceMs + PATIENCE_MS)

const formsOf = (
  winners: Resolved['winners'],
  before: ReadonlyMap<string, EdgeRoute>,
): ReadonlyMap<string, EdgeRoute> => {
  const gone = [...before].filter(([name]) => !winners.has(name)).slice(-MAX_REMEMBERED)
  const present = [...winners].map(
    ([name, { entry }]) => [name, routeOf(entry.key, entry.spec, before.get(name))] as const,
  )
  return new Map([...gone, ...present])
}

/** What is there now, made of the same parts as before where these are equal. */
const sharing = (before: SourceState | undefined, now: SourceState): SourceState => {
  if (before === undefined) return now
  const sameRoutes =
    before.routes.length === now.routes.length &&
    before.routes.every((route, i) => route === now.routes[i])
  const sameProblems = isDeepStrictEqual(before.problems, now.problems)
  if (sameRoutes && sameProblems) return before
  return {
    routes: sameRoutes ? before.routes : now.routes,
    problems: sameProblems ? before.problems : now.problems,
  }
}

const news = (
  before: Following | undefined,
  { published }: Following,
): ReadonlyArray<FilesEffect> =>
  published === before?.published ? [] : [{ _tag: 'Publish', state: published }]

/** When the first of the missing objects will count as removed, if it stays missing. */
const later = ({ files, quietSinceMs }: Following): ReadonlyArray<FilesEffect> => {
  let atMs = Infinity
  for (const { entries } of files.values())
    for (const { missingSinceMs } of entries.values())
      if (missingSinceMs !== undefined) atMs = Math.min(atMs, dueMs(missingSinceMs, quietSinceMs))
  return atMs === Infinity ? [] : [{ _tag: 'ScanAgain', atMs }]
}

const hasMissing = ({ entries }: FileMemory): boolean =>
  [...entries.values()].some(({ missingSinceMs }) => missingSinceMs !== undefined)
