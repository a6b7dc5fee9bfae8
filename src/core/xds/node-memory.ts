import * as PM from '../persistent-map.js'
import type { Resources } from '../snapshot.js'
import { routeType, type TypeUrl, typeUrls } from '../type-url.js'
import { abandon } from './answers.js'
import type { Holding, Unsure } from './holding.js'
import type { NodeIdentity } from './messages.js'
import { eachName } from './names.js'
import { noSearch, type Search } from './search.js'
import { covers } from './subscription.js'
import type { Watch } from './watch.js'

/**
 * What is remembered of a client whose stream has ended: it goes on serving what it had, and comes back
 * with it. By reference, as long as what it held is what others hold too.
 */
export interface NodeMemory {
  /** The id of its node. */
  readonly name: string
  readonly node: NodeIdentity
  readonly dataPlane: string
  /** What it has accepted last. */
  readonly accepted: Readonly<Partial<Record<TypeUrl, Resources>>>
  /** Its route tables, and everything else that it may hold under their names. */
  readonly tables: PM.PersistentMap<Unsure>
  /** Of each type the names whose versions it cannot be trusted with (xDS protocol, 2.8, A to C). */
  readonly doubts: Readonly<Partial<Record<TypeUrl, PM.PersistentMap<Unsure>>>>
  /** What it has refused. */
  readonly searches: Readonly<Partial<Record<TypeUrl, Search>>>
}

/** What a stream leaves behind. What it never asked for stays as it was remembered before. */
export const remember = (
  node: NodeIdentity,
  dataPlane: string,
  watches: Readonly<Partial<Record<TypeUrl, Watch>>>,
  before: NodeMemory | undefined,
): NodeMemory => {
  const accepted: Partial<Record<TypeUrl, Resources>> = { ...before?.accepted }
  let tables = before?.tables
  const doubts: Partial<Record<TypeUrl, PM.PersistentMap<Unsure>>> = { ...before?.doubts }
  const searches: Partial<Record<TypeUrl, Search>> = { ...before?.searches }
  for (const typeUrl of typeUrls) {
    const watch = watches[typeUrl]
    if (watch === undefined) continue
    const holding = abandon(watch)
    if (typeUrl === routeType) tables = tablesIn(watch, holding)
    accepted[typeUrl] = holding.acked ?? before?.accepted[typeUrl]
    doubts[typeUrl] = PM.fromEntries(
      [...PM.entries(holding.unsure)].filter(({ isAtomic }) => !isAtomic),
    )
    const { convicted, past } = watch.search
    searches[typeUrl] = { ...noSearch, convicted, past }
  }
  return {
    name: node.id,
    node,
    dataPlane,
    accepted,
    tables,
    doubts,
    searches,
  }
}

/** Everything that a stream's client may hold of tables, each entry as unsure as it is. */
export const tablesIn = (
  watch: Watch | undefined,
  holding: Holding | undefined,
): PM.PersistentMap<Unsure> => {
  if (watch === undefined || holding === undefined) return undefined
  const names = watch.subscription.wildcard
    ? [...PM.entries(holding.acked), ...PM.entries(holding.unsure)].map(({ name }) => name)
    : [...eachName(watch.subscription.names)]
  return PM.fromEntries(
    names
      .filter((name) => covers(watch.subscription, name))
      .map((name) => PM.get(holding.unsure, name) ?? sure(name, holding)),
  )
}

const sure = (name: string, { acked }: Holding): Unsure => ({
  name,
  accepted: PM.get(acked, name),
  forms: [],
  isUnknown: false,
  isAtomic: false,
  isSettling: false,
})
