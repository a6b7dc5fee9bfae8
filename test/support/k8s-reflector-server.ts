/** An object of the model server. Two forms of it differ in their resource versions. */
export interface ServerObject {
  /** `namespace/name`. */
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  readonly group: string
  readonly content: number
}

export interface ServerChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly revision: number
  readonly object: ServerObject
}

export interface ServerPage {
  readonly items: ReadonlyArray<ServerObject>
  readonly resourceVersion: string
  readonly next: string | undefined
}

export type WatchWord =
  | ServerChange
  | {
      readonly type: 'BOOKMARK'
      readonly resourceVersion: string
      readonly endsInitialEvents: boolean
    }
  /** The server does not remember that far back. */
  | { readonly type: 'GONE' }

/** What is told on a watch: the next word, if there is one at the moment. */
export interface ServerWatch {
  readonly next: () => WatchWord | undefined
  /** What is told of is told; this much is said about how far it has come. */
  readonly bookmark: () => WatchWord
}

/** The simplest API server: a log of changes, of which it forgets the beginning. */
export interface ModelServer {
  readonly put: (name: string, group: string, content: number) => void
  readonly remove: (name: string) => void
  /** Forgets all of the past. */
  readonly compact: () => void
  readonly objects: () => ReadonlyArray<ServerObject>
  /** All that ever happened, in order. */
  readonly log: () => ReadonlyArray<ServerChange>
  /** `undefined` if the token is older than what is remembered. */
  readonly list: (limit: number, token: string | undefined) => ServerPage | undefined
  /** From a resource version. */
  readonly watch: (resourceVersion: string) => ServerWatch
  /** Begins with all that is there, and a bookmark if it knows how. */
  readonly watchList: (endsWithBookmark: boolean) => ServerWatch
}

/** Opaque indeed: neither as numbers nor as strings are later ones greater. One-to-one below a million. */
const versionOf = (revision: number): string => ((revision * 611_953) % 999_983).toString(36)

export const modelServer = (): ModelServer => {
  const log: Array<ServerChange> = []
  const revisions = new Map<string, number>([[versionOf(1), 1]])
  let revision = 1
  let forgotten = 1
  let uids = 0

  const at = (moment: number): ReadonlyArray<ServerObject> => {
    const there = new Map<string, ServerObject>()
    for (const { type, revision: when, object } of log) {
      if (when > moment) break
      if (type === 'DELETED') there.delete(object.name)
      else there.set(object.name, object)
    }
    return [...there.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }
  const find = (name: string): ServerObject | undefined =>
    at(revision).find((object) => object.name === name)
  const commit = (
    type: ServerChange['type'],
    object: Omit<ServerObject, 'resourceVersion'>,
  ): void => {
    revision += 1
    const resourceVersion = versionOf(revision)
    revisions.set(resourceVersion, revision)
    log.push({ type, revision, object: { ...object, resourceVersion } })
  }
  const bookmarkAt = (moment: number, endsInitialEvents: boolean): WatchWord => ({
    type: 'BOOKMARK',
    resourceVersion: versionOf(moment),
    endsInitialEvents,
  })
  const watchFrom = (start: number, first: ReadonlyArray<WatchWord>): ServerWatch => {
    const initial = [...first]
    let seen = start
    return {
      next: () => {
        const word = initial.shift()
        if (word !== undefined) return word
        if (seen < forgotten) return { type: 'GONE' }
        const change = log.find((each) => each.revision > seen)
        if (change !== undefined) seen = change.revision
        return change
      },
      bookmark: () => initial.shift() ?? bookmarkAt(seen, false),
    }
  }
  return {
    put: (name, group, content) => {
      const before = find(name)
      const uid = before?.uid ?? `uid-${++uids}`
      commit(before === undefined ? 'ADDED' : 'MODIFIED', { name, uid, group, content })
    },
    remove: (name) => {
      const before = find(name)
      if (before !== undefined) commit('DELETED', before)
    },
    compact: () => {
      forgotten = revision
    },
    objects: () => at(revision),
    log: () => log,
    list: (limit, token) => {
      const [moment = 0, offset = 0] = token?.split(':').map(Number) ?? [revision, 0]
      if (moment < forgotten) return undefined
      const all = at(moment)
      const end = Math.min(all.length, offset + limit)
      const items = all.slice(offset, end)
      const next = end < all.length ? `${moment}:${end}` : undefined
      return { items, resourceVersion: versionOf(moment), next }
    },
    watch: (resourceVersion) => watchFrom(revisions.get(resourceVersion) ?? -1, []),
    watchList: (endsWithBookmark) => {
      const additions = at(revision).map((object) => ({
        type: 'ADDED' as const,
        revision,
        object,
      }))
      const end = endsWithBookmark ? [bookmarkAt(revision, true)] : []
      return watchFrom(revision, [...additions, ...end])
    },
  }
}
