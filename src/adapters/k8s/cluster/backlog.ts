import { showKey } from '../../../core/edge-route.js'
import { entries, get, type PersistentMap, remove, set } from '../../../core/persistent-map.js'
import type { Change, Reflected } from '../informers/index.js'
import type { SeenRoute } from '../informers/route-view.js'
import { add, has, subtract, type Tally } from './tally.js'

/**
 * How long a change waits for the Services that its routes name, in milliseconds. A list of one Service takes some 10
 * ms, and one of all of them a second or two; who has not answered by then has a trouble that may last.
 */
export const serviceWaitMs = 5_000

/**
 * How many changes wait at most for those that came before them, which are then shown. An API server writes a few
 * hundred objects in a second, so that is more than come in that time.
 */
export const maxHeldChanges = 10_000

/**
 * Routes as they are shown, and changes of them that are not shown yet, because they name Services of which nothing is
 * known so far.
 *
 * Changes are shown in the order of the server, each when its own Services are known. So what is shown is always what
 * the server had at one moment, if a little earlier: whoever makes the new before he takes away the old one is never
 * seen to have done it the other way round. And a burst of new routes is shown step by step, while its last ones still
 * wait.
 *
 * The price is that a change waits for those before it, in other namespaces too. Therefore no change waits for longer
 * than `serviceWaitMs` in all, and a place in which Services did not become known in time is in doubt: nobody waits for
 * Services in it until all of these are known. So one trouble holds the others back once, for that long at most.
 *
 * The first state alone waits without end, for all that its routes name by then: Envoys that are up serve what they
 * have until it comes, and would answer 503 for whatever is not known.
 */
export interface Backlog {
  /** What is shown. */
  readonly routes: PersistentMap<Reflected<SeenRoute>>
  /** The Services that these name. */
  readonly named: Tally
  /** The Services that these and the changes that wait name. */
  readonly wanted: Tally
  /** In the order in which they came. */
  readonly held: ReadonlyArray<Batch>
  readonly heldChanges: number
  /** Services that are named, and did not become known in time. */
  readonly overdue: PersistentMap<Overdue>
  /** How many of them each place has. */
  readonly doubtful: Tally
  /** Services that shown routes named, and at some time since `forget` did not any more. */
  readonly left: ReadonlyArray<string>
  /** Whether all routes were listed. */
  readonly isListed: boolean
  /** Whether there was a first state. Until then `routes` is what it would be. */
  readonly isShown: boolean
}

interface Overdue {
  readonly name: string
  readonly place: string
}

/** Changes that came at once. */
interface Batch {
  readonly changes: ReadonlyArray<Change<SeenRoute>>
  /** The Services that the new forms name. */
  readonly services: ReadonlySet<string>
  /** When they are not waited for any more. */
  readonly untilMs: number
}

export const emptyBacklog: Backlog = {
  routes: undefined,
  named: undefined,
  wanted: undefined,
  held: [],
  heldChanges: 0,
  overdue: undefined,
  doubtful: undefined,
  left: [],
  isListed: false,
  isShown: false,
}

/** Takes in changes, which wait. The first ones are all routes that there are; if they are none, nothing is. */
export const hold = (
  backlog: Backlog,
  changes: ReadonlyArray<Change<SeenRoute>>,
  nowMs: number,
): Backlog => {
  const wanted = changes.reduce((tally, change) => add(tally, newServices(change)), backlog.wanted)
  if (!backlog.isShown) return changes.reduce(apply, { ...backlog, wanted, isListed: true })
  const services = servicesIn(changes)
  return {
    ...backlog,
    wanted,
    held: [...backlog.held, { changes, services, untilMs: nowMs + serviceWaitMs }],
    heldChanges: backlog.heldChanges + changes.length,
  }
}

/** The Services that the new forms of routes name, as `namespace/name`. */
export const servicesIn = (changes: ReadonlyArray<Change<SeenRoute>>): ReadonlySet<string> =>
  new Set(changes.flatMap((change) => [...newServices(change)]))

/** What is known of Services. */
export interface Knowing {
  readonly isKnown: (service: string) => boolean
  /** What its trouble has in common with that of others: they are asked for by the same request. */
  readonly placeOf: (service: string) => string
}

/** Shows what need not wait any more; the same backlog if that is nothing. */
export const show = (before: Backlog, knowing: Knowing, nowMs: number): Backlog => {
  if (!before.isShown) return isComplete(before, knowing) ? { ...before, isShown: true } : before
  let backlog = before
  let shown = 0
  for (const batch of before.held) {
    const behind = backlog.heldChanges - batch.changes.length
    const isDue = nowMs >= batch.untilMs || behind > maxHeldChanges
    if (!isDue && isAwaited(backlog, batch, knowing)) break
    backlog = showBatch(backlog, batch, knowing)
    shown += 1
  }
  return shown === 0 ? before : { ...backlog, held: before.held.slice(shown) }
}

/** Costs O(Services) once; before that as many steps as the first ones of them are known. */
const isComplete = ({ isListed, named }: Backlog, { isKnown }: Knowing): boolean => {
  if (!isListed) return false
  for (const { name } of entries(named)) if (!isKnown(name)) return false
  return true
}

const isAwaited = (
  { doubtful }: Backlog,
  { services }: Batch,
  { isKnown, placeOf }: Knowing,
): boolean => {
  for (const service of services)
    if (!has(doubtful, placeOf(service)) && !isKnown(service)) return true
  return false
}

const showBatch = (before: Backlog, batch: Batch, { isKnown, placeOf }: Knowing): Backlog => {
  const { changes, services } = batch
  const heldChanges = before.heldChanges - changes.length
  let backlog = changes.reduce(apply, { ...before, heldChanges })
  for (const name of services)
    if (!isKnown(name)) backlog = beOverdue(backlog, { name, place: placeOf(name) })
  return backlog
}

/**
 * Notices which of the Services that did not become known in time are known by now; the same backlog if none is. Costs
 * O(those that are overdue).
 */
export const settle = (before: Backlog, { isKnown }: Pick<Knowing, 'isKnown'>): Backlog =>
  overdueOf(before).filter(isKnown).reduce(settleOne, before)

const beOverdue = (backlog: Backlog, each: Overdue): Backlog => {
  if (get(backlog.overdue, each.name) !== undefined || !has(backlog.named, each.name))
    return backlog
  const doubtful = add(backlog.doubtful, [each.place])
  return { ...backlog, overdue: set(backlog.overdue, each), doubtful }
}

const settleOne = (backlog: Backlog, name: string): Backlog => {
  const each = get(backlog.overdue, name)
  if (each === undefined) return backlog
  const doubtful = subtract(backlog.doubtful, [each.place])
  return { ...backlog, overdue: remove(backlog.overdue, name), doubtful }
}

/** Those that did not become known in time, in order. */
export const overdueOf = ({ overdue }: Backlog): ReadonlyArray<string> =>
  [...entries(overdue)].map(({ name }) => name)

/** The Services that are of no use any more, and the backlog that has told of them. */
export const forget = (
  backlog: Backlog,
): readonly [next: Backlog, unused: ReadonlyArray<string>] => {
  const unused = new Set(backlog.left.filter((service) => !has(backlog.wanted, service)))
  return [backlog.left.length === 0 ? backlog : { ...backlog, left: [] }, [...unused]]
}

/** When to look again although nothing has become known, in milliseconds; `undefined` if nothing waits. */
export const showAtMs = ({ held }: Backlog): number | undefined => held[0]?.untilMs

/** The Services that a form names which comes by this change. */
const newServices = (change: Change<SeenRoute>): ReadonlySet<string> =>
  change._tag === 'Deleted' ? noServices : servicesOf(change.object)

/** The Services that a form names which goes by this change. */
const oldServices = (change: Change<SeenRoute>): ReadonlySet<string> => {
  switch (change._tag) {
    case 'Added':
      return noServices
    case 'Modified':
      return servicesOf(change.before)
    case 'Deleted':
      return servicesOf(change.object)
  }
}

const apply = (backlog: Backlog, change: Change<SeenRoute>): Backlog => {
  const { object } = change
  const routes =
    change._tag === 'Deleted' ? remove(backlog.routes, object.name) : set(backlog.routes, object)
  const old = oldServices(change)
  const wanted = subtract(backlog.wanted, old)
  // What has become of a status, as most changes do, changes no names.
  const isSame = change._tag === 'Modified' && change.before.value.route === object.value.route
  if (isSame) return { ...backlog, routes, wanted }
  const named = subtract(add(backlog.named, newServices(change)), old)
  const left = [...old].filter((service) => !has(named, service))
  const next = { ...backlog, routes, wanted, named }
  if (left.length === 0) return next
  return left.reduce(settleOne, { ...next, left: [...backlog.left, ...left] })
}

const noServices: ReadonlySet<string> = new Set()

const servicesOf = ({ value: { route } }: Reflected<SeenRoute>): ReadonlySet<string> => {
  if (route?.spec.backends === undefined) return noServices
  const { namespace } = route.metadata
  const names = route.spec.backends.flatMap(({ service }) => service?.name ?? [])
  return new Set(names.map((name) => showKey({ namespace, name })))
}
