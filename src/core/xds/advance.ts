import * as PM from '../persistent-map.js'
import type { Resource } from '../resource.js'
import { type Resources, versionOf } from '../snapshot.js'
import { clusterType, isFullState, type TypeUrl } from '../type-url.js'
import { type Holding, justAsked, recall, type Unsure } from './holding.js'
import type { Variant } from './messages.js'
import { eachName, noNames, withNames, withoutName } from './names.js'
import { covers, type Subscription } from './subscription.js'
import type { Watch } from './watch.js'

/** What a client is to hold of one type next. */
export interface Aim {
  readonly target: Resources
  /** The names of which nothing is sent for the moment, whatever is due. */
  readonly withheld: ReadonlySet<string>
  /** What goes is to go before anything new comes. */
  readonly removesFirst?: boolean
  /** It is to be refused: see `probe`. */
  readonly isProbe?: boolean
}

export const nothingWithheld: ReadonlySet<string> = new Set()

/** What a type has to say to a client: the parts of a response without its nonce. */
export interface Outgoing {
  readonly version: string
  readonly resources: ReadonlyArray<Resource>
  readonly removed: ReadonlyArray<string>
  /** The names whose content is new to the client, in so far as they exist. */
  readonly renewed: ReadonlyArray<Resource>
}

/**
 * What is due to the client if it is to reach the aim, and the watch once that is sent.
 *
 * A delta response never takes away and brings at once: refused as a whole, it would leave nobody
 * knowing what is gone (xDS protocol, 2.8, finding C). What is to come goes first, so that nothing is
 * missing in between; listeners go the other way about, since two cannot have one address. The rest is due
 * when that has its answer. Costs O(what changed); in state-of-the-world O(resources of the type) for
 * clusters and listeners, of which a response is the whole truth.
 */
export const advance = (
  watch: Watch,
  typeUrl: TypeUrl,
  variant: Variant,
  aim: Aim,
): readonly [Watch, Outgoing | undefined] => {
  if (isSettled(watch, aim)) return [watch, undefined]
  const compared = compareClaims(watch, typeUrl, aim.target)
  const all = collectDue(compared, aim)
  const due = variant === 'delta' ? half(all, aim.removesFirst === true) : all
  const outgoing = compose(due, compared, typeUrl, variant, aim.target)
  const moved = move(compared, due, all, aim)
  const isUnanswered = outgoing === undefined && watch.repeat === 'Asked'
  return [isUnanswered ? { ...moved, repeat: 'Spent' } : moved, outgoing]
}

const isSettled = (watch: Watch, { target }: Aim): boolean =>
  watch.sent === target &&
  watch.owed === undefined &&
  !watch.mustAnswer &&
  watch.claims === undefined

interface Due {
  readonly present: ReadonlyArray<Resource>
  readonly absent: ReadonlyArray<string>
}

const half = (due: Due, removesFirst: boolean): Due => {
  if (due.present.length === 0 || due.absent.length === 0) return due
  return removesFirst ? { ...due, present: [] } : { ...due, absent: [] }
}

/** The watch once this is sent: by reference at the aim, if that is all that was due. */
const move = (watch: Watch, due: Due, all: Due, { target, withheld }: Aim): Watch => {
  const isWhole = due === all
  if (isWhole && withheld.size === 0)
    return { ...watch, sent: target, owed: noNames, mustAnswer: false }
  const names = [...due.present.map(({ name }) => name), ...due.absent]
  const sent = isWhole
    ? [...withheld].reduce((map, name) => put(map, name, PM.get(watch.sent, name)), target)
    : names.reduce((map, name) => put(map, name, PM.get(target, name)), watch.sent)
  return { ...watch, sent, owed: names.reduce(withoutName, watch.owed), mustAnswer: false }
}

/** The map with this entry under the name, or without any. */
export const put = (map: Resources, name: string, entry: Resource | undefined): Resources =>
  entry === undefined ? PM.remove(map, name) : PM.set(map, entry)

/** Of a client that comes with versions, what they say counts as sent if it is what the target has. */
const compareClaims = (watch: Watch, typeUrl: TypeUrl, target: Resources): Watch => {
  const { claims, subscription, holding } = watch
  if (claims === undefined) return watch
  const holds = ({ name, version }: Resource): boolean => claims.get(name) === version
  const gone = [...claims.keys()].filter((name) => PM.get(target, name) === undefined)
  const stale = [...eachName(subscription.names)].filter((name) => {
    const resource = PM.get(target, name)
    return resource === undefined || !holds(resource)
  })
  const different = [...claims].flatMap(([name, version]) => {
    const resource = PM.get(target, name)
    return resource !== undefined && resource.version !== version ? [name] : []
  })
  const due = subscription.wildcard ? [...gone, ...different, ...stale] : stale
  const sent = subscription.wildcard
    ? keep(target, holds, claims.size)
    : stale.reduce<Resources>((map, name) => PM.remove(map, name), target)
  const certain = [...claims.keys()].filter((name) => {
    const resource = PM.get(target, name)
    return resource !== undefined && holds(resource)
  })
  return {
    ...watch,
    sent,
    holding: recall(
      {
        acked: claims.size === 0 ? holding.acked : withOlder(sent, holding.acked, claims),
        unsure: certain.reduce((rest, name) => PM.remove(rest, name), holding.unsure),
      },
      typeUrl === clusterType ? foreign([...gone, ...different], holding) : [],
    ),
    owed: withNames(watch.owed, due),
    claims: undefined,
  }
}

/** What it holds in the form of the target, and what else it says that it holds and is known to have accepted. */
const withOlder = (
  sent: Resources,
  acked: Resources,
  claims: ReadonlyMap<string, string>,
): Resources =>
  sent === undefined
    ? acked
    : [...claims.keys()].reduce<Resources>((map, name) => {
        const known = PM.get(map, name) === undefined ? PM.get(acked, name) : undefined
        return known === undefined ? map : PM.set(map, known)
      }, sent)

/** What it holds in a form that nobody knows. */
const foreign = (names: ReadonlyArray<string>, { acked, unsure }: Holding): ReadonlyArray<Unsure> =>
  names
    .filter((name) => PM.get(acked, name) === undefined && PM.get(unsure, name) === undefined)
    .map((name) => justAsked(name, { isUnknown: true }))

const keep = (
  target: Resources,
  holds: (resource: Resource) => boolean,
  atMost: number,
): Resources =>
  atMost === 0
    ? undefined
    : [...PM.entries(target)]
        .filter((resource) => !holds(resource))
        .reduce((kept, { name }) => PM.remove(kept, name), target)

const collectDue = (watch: Watch, { target, withheld }: Aim): Due => {
  const names = new Set<string>()
  for (const { name } of PM.diff(watch.sent, target))
    if (covers(watch.subscription, name)) names.add(name)
  for (const name of eachName(watch.owed)) names.add(name)
  const present: Array<Resource> = []
  const absent: Array<string> = []
  for (const name of [...names].sort()) {
    if (withheld.has(name)) continue
    const resource = PM.get(target, name)
    if (resource === undefined) absent.push(name)
    else present.push(resource)
  }
  return { present, absent }
}

const compose = (
  { present, absent }: Due,
  { subscription, mustAnswer }: Watch,
  typeUrl: TypeUrl,
  variant: Variant,
  target: Resources,
): Outgoing | undefined => {
  const version = versionOf(target)
  const nothing = present.length === 0 && absent.length === 0 && !mustAnswer
  if (nothing) return undefined
  if (variant === 'delta') return { version, resources: present, removed: absent, renewed: present }
  if (isFullState(typeUrl))
    return { version, resources: select(subscription, target), removed: [], renewed: present }
  return present.length === 0 && !mustAnswer
    ? undefined
    : { version, resources: present, removed: [], renewed: present }
}

/** All that a client subscribes to, in the order of the names. */
const select = ({ wildcard, names }: Subscription, target: Resources): ReadonlyArray<Resource> =>
  wildcard
    ? [...PM.entries(target)]
    : [...eachName(names)].flatMap((name) => PM.get(target, name) ?? [])
