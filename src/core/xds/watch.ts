import * as PM from '../persistent-map.js'
import type { Resource } from '../resource.js'
import { type Resources, versionOf } from '../snapshot.js'
import { isFullState, type TypeUrl } from '../type-url.js'
import type { Response, Variant } from './messages.js'
import { eachName, hasName, type Names, noNames, withNames, withoutName } from './names.js'
import { covers, type Subscription } from './subscription.js'

/**
 * What a stream knows of one type: what the client asks for, and what it was sent.
 *
 * Of every name that the client subscribes to it was sent what `sent` says, or that there is no such
 * resource, whether it accepted that or not; save the names in `owed`, which it is to be sent in any
 * case. Of other names `sent` says nothing. So what is still to be sent is the difference between `sent` and
 * the target, and a stream costs memory for what is outstanding, not for what it holds.
 */
export interface Watch {
  readonly subscription: Subscription
  readonly sent: Resources
  readonly owed: Names
  /**
   * What the client has accepted on this stream. Of endpoints and route tables the last of each name: what it
   * asks for by name it keeps when that is taken away.
   */
  readonly acked: Resources
  /** What it has refused since it last accepted something of that name: parts of it may be live. */
  readonly refused: ReadonlyArray<Resource>
  /** A response is due even if it is empty: the client waits for one. */
  readonly mustAnswer: boolean
  /**
   * What the client said it holds, name → version, until there is a target to compare it with; then
   * `undefined` for the rest of the stream.
   */
  readonly claims: ReadonlyMap<string, string> | undefined
  /** Of the last response; empty before the first one. */
  readonly nonce: string
  /** The last response, while it has no answer. */
  readonly inFlight: InFlight | undefined
  readonly repeat: Repeat
}

export interface InFlight {
  readonly nonce: string
  readonly version: string
  readonly resources: ReadonlyArray<Resource>
  readonly removed: ReadonlyArray<string>
  /** What the client will have reached when it accepts it. */
  readonly target: Resources
}

/**
 * Whether a repeated request is answered: once for each response that is not itself such an answer,
 * so that client and server can never keep each other busy.
 */
export type Repeat = 'Allowed' | 'Asked' | 'Spent'

/** What a type has to say to a client: the parts of a response without its nonce. */
export interface Outgoing {
  readonly version: string
  readonly resources: ReadonlyArray<Resource>
  readonly removed: ReadonlyArray<string>
  /** The names whose content is new to the client, in so far as they exist. */
  readonly renewed: ReadonlyArray<Resource>
}

export const openWatch = (
  subscription: Subscription,
  claims: ReadonlyMap<string, string>,
): Watch => ({
  subscription,
  sent: undefined,
  owed: noNames,
  acked: undefined,
  refused: [],
  mustAnswer: subscription.wildcard && claims.size === 0,
  claims,
  nonce: '',
  inFlight: undefined,
  repeat: 'Spent',
})

/**
 * Changes what a client asks for. Each name that a request asks for is sent, even if it was sent before. Costs
 * O(log n) for each name of the request.
 *
 * A client that asks for everything anew has dropped what it did not ask for by name, yet may still take
 * what is on its way to it: it is owed an answer for every name that it may have been sent.
 */
export const resubscribe = (
  watch: Watch,
  subscription: Subscription,
  { asked, givenUp }: NameChanges,
): Watch => {
  const gainsAll = subscription.wildcard && !watch.subscription.wildcard
  const losesAll = !subscription.wildcard && watch.subscription.wildcard
  const uncovered = losesAll ? [...eachName(watch.owed)] : givenUp
  const owed = uncovered
    .filter((name) => !covers(subscription, name))
    .reduce(withoutName, watch.owed)
  const unsure = gainsAll ? namesOf(watch.sent) : []
  return {
    ...watch,
    subscription,
    owed: withNames(owed, [...unsure, ...asked]),
    mustAnswer: (watch.mustAnswer && subscription.wildcard) || gainsAll,
  }
}

/** What a request changes in what a client asks for. */
export interface NameChanges {
  /** The names that it asks for, for the first time or again. */
  readonly asked: ReadonlyArray<string>
  /** The names that it asks for no more. */
  readonly givenUp: ReadonlyArray<string>
}

const namesOf = (resources: Resources): ReadonlyArray<string> =>
  [...PM.entries(resources)].map(({ name }) => name)

/** The client wants all that it subscribes to once more. */
export const repeatAll = (watch: Watch): Watch => ({
  ...watch,
  owed: withNames(watch.owed, [
    ...eachName(watch.subscription.names),
    ...(watch.subscription.wildcard ? namesOf(watch.sent) : []),
  ]),
  mustAnswer: watch.mustAnswer || watch.subscription.wildcard,
  repeat: 'Asked',
})

/**
 * What is due to the client if it is to reach the target, and the watch once that is sent.
 *
 * Nothing at all is due while a response has no answer: the newest target wins, nothing queues up.
 * Costs O(what changed); in state-of-the-world O(resources of the type) for clusters and listeners,
 * of which a response is the whole truth.
 */
export const advance = (
  watch: Watch,
  typeUrl: TypeUrl,
  variant: Variant,
  target: Resources,
): readonly [Watch, Outgoing | undefined] => {
  if (watch.inFlight !== undefined || isSettled(watch, target)) return [watch, undefined]
  const compared = compareClaims(watch, target)
  const due = collectDue(compared, target)
  const settled: Watch = { ...compared, sent: target, owed: noNames, mustAnswer: false }
  const outgoing = compose(due, compared, typeUrl, variant, target)
  const unanswered = outgoing === undefined && watch.repeat === 'Asked'
  return [unanswered ? { ...settled, repeat: 'Spent' } : settled, outgoing]
}

/** Sends these names behind whatever else is due, in so far as the client subscribes to them. */
export const owe = (watch: Watch, names: Iterable<string>): Watch => ({
  ...watch,
  owed: withNames(
    watch.owed,
    [...names].filter((name) => covers(watch.subscription, name)),
  ),
})

/** Notes that the response in flight was accepted. */
export const accept = (watch: Watch, typeUrl: TypeUrl): Watch => {
  const { inFlight } = watch
  if (inFlight === undefined) return watch
  const names = new Set(inFlight.resources.map(({ name }) => name))
  const kept = inFlight.removed
    .filter((name) => !hasName(watch.subscription.names, name))
    .reduce(PM.remove<Resource>, watch.acked)
  return {
    ...settle(watch),
    acked: isFullState(typeUrl)
      ? inFlight.target
      : inFlight.resources.reduce(PM.set<Resource>, kept),
    refused: watch.refused.filter(({ name }) => !names.has(name)),
  }
}

/** How many refused resources are remembered: a client that refuses everything must not cost memory. */
const maxRefused = 64

/** Notes that the response in flight was refused. */
export const refuse = (watch: Watch): Watch => ({
  ...settle(watch),
  refused: [...watch.refused, ...(watch.inFlight?.resources ?? [])].slice(-maxRefused),
})

/** Notes that the response in flight has an answer, which says nothing of what the client holds. */
export const settle = (watch: Watch): Watch => ({ ...watch, inFlight: undefined })

const isSettled = (watch: Watch, target: Resources): boolean =>
  watch.sent === target &&
  watch.owed === undefined &&
  !watch.mustAnswer &&
  watch.claims === undefined

/** Notes that a response has left under this nonce. */
export const markSent = (
  watch: Watch,
  { nonce, version, resources, removed }: Response,
): Watch => ({
  ...watch,
  nonce,
  inFlight: { nonce, version, resources, removed, target: watch.sent },
  repeat: watch.repeat === 'Asked' ? 'Spent' : 'Allowed',
})

interface Due {
  readonly present: ReadonlyArray<Resource>
  readonly absent: ReadonlyArray<string>
}

/** Of a client that comes with versions, what they say counts as sent if it is what the target has. */
const compareClaims = (watch: Watch, target: Resources): Watch => {
  const { claims, subscription } = watch
  if (claims === undefined) return watch
  const holds = ({ name, version }: Resource): boolean => claims.get(name) === version
  const gone = [...claims.keys()].filter((name) => PM.get(target, name) === undefined)
  const stale = [...eachName(subscription.names)].filter((name) => {
    const resource = PM.get(target, name)
    return resource === undefined || !holds(resource)
  })
  const due = subscription.wildcard ? [...gone, ...stale] : stale
  return {
    ...watch,
    sent: subscription.wildcard ? keep(target, holds, claims.size) : target,
    owed: withNames(watch.owed, due),
    claims: undefined,
  }
}

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

const collectDue = (watch: Watch, target: Resources): Due => {
  const names = new Set<string>()
  for (const { name } of PM.diff(watch.sent, target))
    if (covers(watch.subscription, name)) names.add(name)
  for (const name of eachName(watch.owed)) names.add(name)
  const present: Array<Resource> = []
  const absent: Array<string> = []
  for (const name of [...names].sort()) {
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
