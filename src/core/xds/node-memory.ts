import * as PM from '../persistent-map.js'
import type { Resource } from '../resource.js'
import type { Resources } from '../snapshot.js'
import { routeType, type TypeUrl, typeUrls } from '../type-url.js'
import { abandon } from './answers.js'
import { type Holding, maxForms, type Unsure, unsureOf } from './holding.js'
import type { NodeIdentity } from './messages.js'
import { eachName, hasName, type Names } from './names.js'
import { noSearch, type Search } from './search.js'
import type { Freshness } from './session-state.js'
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
  /** Whether it may hold tables that nobody has noted: it had not yet said which ones it has. */
  readonly isUnknown: boolean
  /**
   * Two streams had this id at once, at some time: nobody can say whose memory this is, so that it is all
   * of theirs, and no single one settles it.
   */
  readonly isShared: boolean
  /** Its route tables, and everything else that it may hold under their names. */
  readonly tables: PM.PersistentMap<Unsure>
  /** Of each type the names whose versions it cannot be trusted with (xDS protocol, 2.8, A to C). */
  readonly doubts: Readonly<Partial<Record<TypeUrl, PM.PersistentMap<Unsure>>>>
  /** What it has refused. */
  readonly searches: Readonly<Partial<Record<TypeUrl, Search>>>
}

/** What is remembered of nodes, by node id. */
export interface NodeMemories extends ReadonlyMap<string, NodeMemory> {
  /** How many others were forgotten, since there were too many: of these nothing is known. */
  readonly forgotten?: number
}

/** What a stream leaves behind. What it never asked for stays as it was remembered before. */
export const remember = (
  node: NodeIdentity,
  dataPlane: string,
  session: Remembered,
): NodeMemory => {
  const { watches, memory: before } = session
  const accepted: Partial<Record<TypeUrl, Resources>> = { ...before?.accepted }
  let tables = tablesBefore(session)
  const doubts: Partial<Record<TypeUrl, PM.PersistentMap<Unsure>>> = { ...before?.doubts }
  const searches: Partial<Record<TypeUrl, Search>> = { ...before?.searches }
  for (const typeUrl of typeUrls) {
    const watch = watches[typeUrl]
    if (watch === undefined) continue
    const holding = abandon(watch)
    if (typeUrl === routeType) tables = tablesIn(watch, holding)
    // That there is nothing may be what it has accepted.
    accepted[typeUrl] = watch.hasAccepted
      ? holding.acked
      : (holding.acked ?? before?.accepted[typeUrl])
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
    isUnknown: mayHoldUnknown(session),
    isShared: before?.isShared ?? false,
    tables,
    doubts,
    searches,
  }
}

/** What of a session is remembered. */
export interface Remembered {
  readonly watches: Readonly<Partial<Record<TypeUrl, Watch>>>
  readonly memory: NodeMemory | undefined
  readonly freshness: Freshness
  readonly isBare: boolean
  readonly isProving: boolean
}

/**
 * Whether a client may hold tables that nobody has noted. It has asked for none yet; and it was remembered so, or
 * has come with something, or has not yet answered any listeners.
 */
export const mayHoldUnknown = ({
  watches,
  memory,
  freshness,
  isBare,
  isProving,
}: Remembered): boolean =>
  watches[routeType] === undefined &&
  !isBare &&
  (memory?.isUnknown === true ||
    // While a deletion waits for proof, what is remembered may be of another one that had its id.
    ((memory === undefined || isProving) && freshness !== 'Fresh'))

/** The tables that a client was left with, as long as it has not said which it has. */
export const tablesBefore = ({ memory, isBare }: Remembered): PM.PersistentMap<Unsure> =>
  isBare ? undefined : memory?.tables

/** Everything that any of several clients of one id may hold. */
export const unite = (a: NodeMemory, b: NodeMemory): NodeMemory => ({
  ...b,
  // In state of the world a response takes away what it does not name: so that is what either of them has.
  accepted: Object.fromEntries(
    typeUrls.map((typeUrl) => [typeUrl, uniteResources(a.accepted[typeUrl], b.accepted[typeUrl])]),
  ),
  isUnknown: a.isUnknown || b.isUnknown,
  isShared: true,
  tables: uniteUnsure(a.tables, b.tables),
  doubts: Object.fromEntries(
    typeUrls.map((typeUrl) => [typeUrl, uniteUnsure(a.doubts[typeUrl], b.doubts[typeUrl])]),
  ),
})

/** Costs O(log n) for each difference. */
const uniteResources = (a: Resources, b: Resources): Resources =>
  PM.diff(b, a).reduce<Resources>(
    (all, { before, after }) =>
      before === undefined && after !== undefined ? PM.set(all, after) : all,
    b,
  )

const uniteUnsure = (
  a: PM.PersistentMap<Unsure>,
  b: PM.PersistentMap<Unsure>,
): PM.PersistentMap<Unsure> =>
  [...PM.entries(a)].reduce((all, entry) => {
    const other = PM.get(all, entry.name)
    if (other === undefined) return PM.set(all, entry)
    const either = [entry.accepted, ...entry.forms, ...other.forms].filter(
      (form): form is Resource => form !== undefined && form !== other.accepted,
    )
    const forms = [...new Set(either)]
    return PM.set(all, {
      ...other,
      forms: forms.slice(-maxForms),
      isUnknown: entry.isUnknown || other.isUnknown || forms.length > maxForms,
      isAtomic: entry.isAtomic && other.isAtomic,
    })
  }, b)

/** Everything that a stream's client may hold of tables, each entry as unsure as it is. */
export const tablesIn = (
  watch: Watch | undefined,
  holding: Holding | undefined,
): PM.PersistentMap<Unsure> => {
  if (watch === undefined || holding === undefined) return undefined
  const { subscription } = watch
  const { acked, unsure } = holding
  if (subscription.wildcard)
    return [...PM.entries(unsure)].reduce(PM.set<Unsure>, allCertain(acked))
  const names = subscription.names
  return [...PM.entries(unsure)].reduce(
    (all, entry) => (hasName(names, entry.name) ? PM.set(all, entry) : all),
    certain(names, acked),
  )
}

const allCertain = (acked: Resources): PM.PersistentMap<Unsure> =>
  PM.fromEntries([...PM.entries(acked)].map((accepted) => unsureOf(accepted.name, { accepted })))

type Certain = PM.PersistentMap<Unsure>

/** What has become of a list of names: what was made of it last, and of all that is still held. */
interface KnownCertain {
  readonly acked: Resources
  readonly tables: Certain
  readonly byAcked: WeakMap<NonNullable<Resources>, Certain>
}

const knownCertain = new WeakMap<NonNullable<Names>, KnownCertain>()

/**
 * What a client holds that has accepted this and asks for these names. The very same for all of which that is true;
 * where it was made before of other tables it costs O(d log n) for d that differ.
 */
const certain = (names: Names, acked: Resources): Certain => {
  if (names === undefined) return undefined
  const known = knownCertain.get(names)
  const hit = acked && known?.byAcked.get(acked)
  if (hit !== undefined) return hit
  const tables =
    known === undefined
      ? PM.fromEntries(
          [...eachName(names)].map((name) => unsureOf(name, { accepted: PM.get(acked, name) })),
        )
      : PM.changes(known.acked, acked).reduce<Certain>(
          (all, { name, after: accepted }) =>
            hasName(names, name) ? PM.set(all, unsureOf(name, { accepted })) : all,
          known.tables,
        )
  const byAcked = known?.byAcked ?? new WeakMap<NonNullable<Resources>, Certain>()
  if (acked !== undefined) byAcked.set(acked, tables)
  knownCertain.set(names, { acked, tables, byAcked })
  return tables
}
