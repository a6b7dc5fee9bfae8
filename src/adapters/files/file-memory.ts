import { kind, type RouteKey } from '../../core/edge-route.js'
import type { FieldError } from '../../core/field-error.js'
import { type FileContent, fileKinds, nameOf } from './objects.js'
import { type FileDocument, type Parsed, type Reading, showPlace } from './reading.js'

/**
 * What is known of one file: the objects that it has, or had a moment ago, in their last good
 * forms.
 */
export interface FileMemory {
  readonly path: string
  /** Absent while the file is not there. */
  readonly reading: Reading | undefined
  /** True while nobody can say whether the file is there. */
  readonly hidden: boolean
  /** By `nameOf`. */
  readonly entries: Entries
  readonly problems: ReadonlyArray<FileProblem>
}

export type Entries = ReadonlyMap<string, Entry>

export interface Entry {
  readonly key: RouteKey
  /** Where it stands, or stood when it was last read. */
  readonly document: number
  readonly content: FileContent
  /** True where this is an earlier form, since what stands there now is of no use. */
  readonly held: boolean
  /**
   * Since when it is known not to be there any more; absent while it is there or nobody can say.
   */
  readonly missingSinceMs: number | undefined
}

export interface FileProblem {
  /** Absent where the fault is of the file as a whole. */
  readonly document: number | undefined
  /** Of a route; undefined of what is none, or nobody knows. */
  readonly key: RouteKey | undefined
  readonly errors: ReadonlyArray<FieldError>
  /** The objects of the file whose last good forms stand in for what is wrong here. */
  readonly holds: ReadonlyArray<string>
}

/** Nothing is known of a file that was never there. */
export const unknownFile = (path: string): FileMemory => ({
  path,
  reading: undefined,
  hidden: false,
  entries: new Map(),
  problems: [],
})

/**
 * Takes in what a look at a file gave. Whatever is doubtful changes nothing:
 *
 * | the file                             | an object that it had, and that is not there now     |
 * | ------------------------------------ | ---------------------------------------------------- |
 * | is gone                              | is missing                                           |
 * | cannot be read                       | is held: its last good form goes on being served     |
 * | is empty, to its last byte           | is held, since something is to be written there yet  |
 * | is not YAML as a whole               | is held; so is every other object that the file had  |
 * | has an invalid document of that name | is held                                              |
 * | has an invalid document without name | is held, since it may be that one                    |
 * | ends in an invalid document          | is held, since the file may have been cut there      |
 * | has none of these                    | is missing                                           |
 *
 * In a file that is not YAML, objects that are whole and new are taken up all the same. Of two
 * documents with one name the first counts, an invalid one only if it had the name before or no
 * valid one has it. What is of quite another kind (a Deployment, say) stands only for an object that was in its
 * very place.
 */
export const remember = (
  before: FileMemory,
  reading: Reading | undefined,
  nowMs: number,
): FileMemory => {
  switch (reading?._tag) {
    case undefined:
      return { ...unknownFile(before.path), entries: mapEntries(before.entries, miss(nowMs)) }
    case 'Parsed':
      return rememberParsed(before, reading, nowMs)
    case 'Empty':
      return before.entries.size === 0
        ? { ...unknownFile(before.path), reading }
        : holdAll(before, reading, emptied)
    case 'Unreadable':
      return holdAll(before, reading, reading.message)
  }
}

const emptied = 'is empty: what it had is kept until something is in it again, or it is removed'

/** Keeps what a file had, and says why. */
const holdAll = (before: FileMemory, reading: Reading, message: string): FileMemory => {
  const errors = [{ path: '', message }]
  const holds = [...before.entries.keys()]
  const problems = [{ document: undefined, key: undefined, errors, holds }]
  const entries = mapEntries(before.entries, hold)
  return { path: before.path, reading, hidden: false, entries, problems }
}

/** Keeps all that is known of a file at which nobody can look just now. */
export const keep = (before: FileMemory): FileMemory =>
  before.hidden ? before : { ...before, hidden: true, entries: mapEntries(before.entries, hold) }

/** Forgets the objects for which `isDue` holds. */
export const forget = (memory: FileMemory, isDue: (entry: Entry) => boolean): FileMemory =>
  [...memory.entries.values()].some(isDue)
    ? { ...memory, entries: new Map([...memory.entries].filter(([, entry]) => !isDue(entry))) }
    : memory

/** What to say of an object whose name is taken by what stands at `first`. */
export const duplicate = (
  { document, key, content }: Pick<Entry, 'document' | 'key' | 'content'>,
  first: string,
): FileProblem => {
  const remedy = 'and that one counts: rename or remove one of them'
  const message = `${nameOf(content._tag, key)} is in ${first} too, ${remedy}`
  const errors = [{ path: 'metadata.name', message }]
  return { document, key: content._tag === kind ? key : undefined, errors, holds: [] }
}

const rememberParsed = (before: FileMemory, reading: Parsed, nowMs: number): FileMemory => {
  const taken = takeNames(before, reading)
  const rest = new Map([...before.entries].filter(([name]) => !taken.has(name)))
  const last = reading.documents.at(-1)
  const cut = last?._tag === 'Invalid' ? last : undefined
  const doubtful = reading.broken || cut !== undefined || reading.documents.some(isNameless)
  const settled = mapEntries(rest, doubtful ? hold : miss(nowMs))
  const all = [...before.entries.keys()]
  const gone = [...rest.keys()]
  const heldBy = (document: FileDocument): ReadonlyArray<string> => {
    if (reading.broken) return all
    const own = namesOf(document).filter((name) => {
      const entry = taken.get(name)
      return entry?.held === true && entry.document === document.document
    })
    return isNameless(document) || document === cut ? [...own, ...gone] : own
  }
  const problems = reading.documents.flatMap((document): ReadonlyArray<FileProblem> => {
    if (document._tag === 'Invalid') return [problemOf(document, heldBy(document))]
    const name = nameOf(document.content._tag, document.key)
    const first = taken.get(name)?.document ?? document.document
    return first === document.document ? [] : [duplicate(document, showPlace(before.path, first))]
  })
  const entries = new Map([...taken, ...settled])
  return { path: before.path, reading, hidden: false, entries, problems }
}

type InvalidDocument = FileDocument & { readonly _tag: 'Invalid' }

/** True of what may be any object. */
const isNameless = (document: FileDocument): boolean => document.key === undefined

/** Whoever reads a problem takes its key for that of a route. */
const problemOf = (
  { document, kind: of, key, errors }: InvalidDocument,
  holds: ReadonlyArray<string>,
): FileProblem => ({
  document,
  key: of === undefined || of === kind ? key : undefined,
  errors,
  holds,
})

/** The names that a document may stand for: one of each kind where it is of none of ours. */
const namesOf = (document: FileDocument): ReadonlyArray<string> => {
  const { key } = document
  if (key === undefined) return []
  const named = document._tag === 'Valid' ? document.content._tag : document.kind
  const known = fileKinds.filter((of) => of === named)
  return (known.length === 0 ? fileKinds : known).map((of) => nameOf(of, key))
}

/** Gives each name that stands in a file to one of its documents. */
const takeNames = (before: FileMemory, { documents, broken }: Parsed): Entries => {
  const valid = new Set(documents.flatMap((d) => (d._tag === 'Valid' ? namesOf(d) : [])))
  const mayBe = (document: InvalidDocument, name: string, known: Entry): boolean => {
    const isInPlace = known.document === document.document
    const isFree = !valid.has(name)
    return document.kind === 'Other' ? isInPlace && isFree : isInPlace || isFree
  }
  const taken = new Map<string, Entry>()
  for (const document of documents)
    for (const name of namesOf(document)) {
      if (taken.has(name)) continue
      const known = before.entries.get(name)
      const held = known && { ...hold(known), document: document.document ?? known.document }
      if (document._tag === 'Valid')
        taken.set(name, (broken ? held : undefined) ?? entryOf(document))
      else if (held && mayBe(document, name, known)) taken.set(name, held)
    }
  return taken
}

const entryOf = ({ key, document, content }: FileDocument & { readonly _tag: 'Valid' }): Entry => ({
  key,
  document,
  content,
  held: false,
  missingSinceMs: undefined,
})

const hold = (entry: Entry): Entry => ({ ...entry, held: true, missingSinceMs: undefined })

const miss =
  (nowMs: number) =>
  (entry: Entry): Entry => ({ ...entry, missingSinceMs: entry.missingSinceMs ?? nowMs })

const mapEntries = (entries: Entries, change: (entry: Entry) => Entry): Entries =>
  new Map([...entries].map(([name, entry]) => [name, change(entry)]))
