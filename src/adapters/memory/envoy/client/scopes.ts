import { listenerType, scopeType } from '../../../../core/type-url.js'
import { inspect, type ScopesNeed } from './inspect.js'
import { allListeners, type Listeners, type RunningListener } from './listeners.js'
import type { ReceivedResource } from './messages.js'
import type { HeldResource } from './state.js'

/** What an Envoy knows of scopes, by the source (`ScopedRds`) from which a listener has them. */
export type ScopeSources = ReadonlyMap<string, ScopeSource>

/**
 * Scopes that listeners share, as long as there is one that has them from the same source, if only to drain.
 *
 * One that is new knows nothing before scopes are sent again, whatever another one knows.
 */
export interface ScopeSource {
  /**
   * The form of a listener that was the first. It alone waits for the scopes and for their tables; whoever comes later
   * has what there is, and where an Envoy serves takes connections at once.
   */
  readonly waiter: RunningListener['id']
  readonly need: ScopesNeed
  /** A response has come, good or not, or is waited for no more. */
  readonly heard: boolean
  /** Until when a response is waited for; `undefined` is for ever, or no more. */
  readonly dueMs: number | undefined
  readonly held: ReadonlyMap<string, HeldResource>
}

export const noSources: ScopeSources = new Map()

/** The sources that these listeners need: what is known of each is kept, and what none needs is forgotten. */
export const followSources = (
  sources: ScopeSources,
  listeners: Listeners,
  nowMs: number,
): ScopeSources => {
  const next = new Map<string, ScopeSource>()
  for (const [, listener] of inOrder(listeners))
    for (const need of scopesOf(listener))
      if (!next.has(need.source))
        next.set(need.source, sources.get(need.source) ?? begin(need, listener.id, nowMs))
  return next
}

const inOrder = (listeners: Listeners) =>
  [...allListeners(listeners)].sort(([, a], [, b]) => a.id - b.id)

const begin = (need: ScopesNeed, waiter: RunningListener['id'], nowMs: number): ScopeSource => ({
  waiter,
  need,
  heard: false,
  dueMs: need.fetchMs === undefined ? undefined : nowMs + need.fetchMs,
  held: new Map(),
})

/** Where a listener has its scopes from. */
export const scopesOf = ({ bytes }: HeldResource): ReadonlyArray<ScopesNeed> =>
  inspect(listenerType, bytes).scopes

/** What has come, whole or in part; `undefined` for what was refused. */
export interface ScopeNews {
  readonly good: ReadonlyMap<string, HeldResource>
  /** The names that go; `others` are all that are not among the good ones. */
  readonly gone: ReadonlyArray<string> | 'others'
}

/** Gives a response to all sources. A refused one leaves what there is, and is an answer too. */
export const takeScopes = (sources: ScopeSources, news: ScopeNews | undefined): ScopeSources =>
  mapValues(sources, (source) => ({
    ...source,
    heard: true,
    dueMs: undefined,
    held: news === undefined ? source.held : changed(source.held, news),
  }))

const changed = (held: ScopeSource['held'], { good, gone }: ScopeNews): ScopeSource['held'] =>
  gone === 'others'
    ? good
    : new Map([...[...held].filter(([name]) => !gone.includes(name)), ...good])

/** Ends the waits that have lasted for long enough. */
export const awaitScopesNoMore = (sources: ScopeSources, nowMs: number): ScopeSources =>
  mapValues(sources, (source) =>
    source.dueMs === undefined || source.dueMs > nowMs
      ? source
      : { ...source, heard: true, dueMs: undefined },
  )

const mapValues = (
  sources: ScopeSources,
  change: (source: ScopeSource) => ScopeSource,
): ScopeSources => new Map([...sources].map(([key, source]) => [key, change(source)]))

/** The tables that scopes name, for each of them how long it is waited for. */
export const tablesOfSources = (
  sources: Iterable<ScopeSource>,
): ReadonlyMap<string, number | undefined> =>
  new Map(
    [...sources].flatMap(({ held, need }) =>
      [...held.values()].map(({ bytes }) => [keyAndTable(bytes).table, need.tableFetchMs] as const),
    ),
  )

/** Makes the check that scopes pass, to be asked for each of one response in order: no two have one key. */
export const keyCheck = (
  sources: ScopeSources,
  response: Pick<ScopeNews, 'gone'> & { readonly names: ReadonlyArray<string> },
): ((resource: ReceivedResource) => string | undefined) => {
  const owners = ownersWithout(sources, response)
  return ({ name, bytes }) => {
    const { key, table } = keyAndTable(bytes)
    if (table === '') return 'route_configuration_name is empty.'
    const owner = owners.get(key)
    if (owner === undefined) owners.set(key, name)
    return owner === undefined ? undefined : showConflict(owner, name)
  }
}

/** The names of the scopes that stay as they are, by key. */
const ownersWithout = (
  sources: ScopeSources,
  { names, gone }: Parameters<typeof keyCheck>[1],
): Map<string, string> => {
  if (gone === 'others') return new Map()
  const leaving = new Set([...gone, ...names])
  const held = [...sources.values()].flatMap((source) => [...source.held])
  return new Map(
    held
      .filter(([name]) => !leaving.has(name))
      .map(([name, { bytes }]) => [keyAndTable(bytes).key, name] as const),
  )
}

const showConflict = (first: string, second: string): string =>
  `Error adding/updating scoped route(s): scope key conflict found, first scope is '${first}', ` +
  `second scope is '${second}'`

const keyAndTable = (bytes: Uint8Array) => inspect(scopeType, bytes).scope
