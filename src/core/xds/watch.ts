import { ownsIn } from '../compose.js'
import * as PM from '../persistent-map.js'
import type { Resource } from '../resource.js'
import type { Resources } from '../snapshot.js'
import { type Holding, holdsNothing, justAsked, lastAccepted, recall } from './holding.js'
import { eachName, type Names, noNames, withNames, withoutName } from './names.js'
import { noSearch, pardon, type Search, type Unit } from './search.js'
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
  /** What the client has said of what it holds. */
  readonly holding: Holding
  /** It has accepted something of this type on this stream. */
  readonly hasAccepted: boolean
  /** The route tables that it has accepted on this stream, in whatever form; of other types nothing. */
  readonly proven: Names
  /** The search for what it refuses. */
  readonly search: Search
  /**
   * A table that it asks for, that nobody knows, and that is not published is to be empty: it has been asked for
   * longer than an Envoy drains a listener, and a deletion waits for proof.
   */
  readonly emptiesUnknown: boolean
  /** A response is due even if it is empty: the client waits for one. */
  readonly mustAnswer: boolean
  /**
   * What the client said it holds, name → version, until there is a target to compare it with; then
   * `undefined` for the rest of the stream.
   */
  readonly claims: ReadonlyMap<string, string> | undefined
  /** Of the last response; empty before the first one. */
  readonly nonce: string
  /** The responses that have no answer, oldest first: one, of clusters a few. */
  readonly inFlight: ReadonlyArray<InFlight>
  /** The response that was refused last, until another one leaves or the client asks for something anew. */
  readonly refused: InFlight | undefined
  /** The response that was refused last and was no trial, and how often it was in a row. */
  readonly balked: Balked | undefined
  readonly repeat: Repeat
}

export interface Balked {
  readonly response: InFlight
  readonly times: number
  /** Until when it is not sent once more, in milliseconds; `undefined` if it may be. */
  readonly until: number | undefined
}

export interface InFlight {
  readonly nonce: string
  readonly version: string
  readonly resources: ReadonlyArray<Resource>
  /** What it takes away, in state of the world by leaving it out. */
  readonly removed: ReadonlyArray<string>
  /** It is the whole truth: the client holds nothing of this type but what it names. */
  readonly isWhole: boolean
  /** What the client will have reached when it accepts it. */
  readonly target: Resources
  /** When it was sent, in milliseconds. */
  readonly sentAt: number
  /** What is tried with it, if it is part of a search. */
  readonly trial: ReadonlyArray<Unit> | undefined
  /** It is to be refused: what the refusal names is what counts. */
  readonly isProbe: boolean
  /** It has waited too long for its answer, and is no more waited for. */
  readonly isStalled: boolean
}

/** What a response says. */
export type Said = Pick<InFlight, 'resources' | 'removed'>

/**
 * True of a response that says the very same as an earlier one of its type. One that is the whole truth says all
 * by what it names.
 */
export const isSame = (a: Said, b: InFlight | undefined): boolean =>
  b !== undefined &&
  a.resources.length === b.resources.length &&
  (b.isWhole || isSameList(a.removed, b.removed)) &&
  a.resources.every(({ name, version }, index) => {
    const other = b.resources[index]
    return name === other?.name && version === other.version
  })

const isSameList = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): boolean =>
  a.length === b.length && a.every((name, index) => name === b[index])

/** The names of which a response says something. */
export const namesIn = ({ resources, removed }: Said): ReadonlyArray<string> => [
  ...resources.map(({ name }) => name),
  ...removed,
]

/** Of which names these responses say something else than an earlier one. */
export const changedBy = (
  responses: ReadonlyArray<InFlight>,
  { resources }: InFlight,
): ReadonlySet<string> => {
  const before = new Map(resources.map(({ name, version }) => [name, version]))
  return new Set(
    responses.flatMap((later) => [
      ...later.removed,
      ...later.resources.flatMap(({ name, version }) =>
        before.get(name) === version ? [] : [name],
      ),
    ]),
  )
}

/**
 * Whether a repeated request is answered: once for each response that is not itself such an answer,
 * so that client and server can never keep each other busy.
 */
export type Repeat = 'Allowed' | 'Asked' | 'Spent'

export const openWatch = (
  subscription: Subscription,
  claims: ReadonlyMap<string, string>,
): Watch => ({
  subscription,
  sent: undefined,
  owed: noNames,
  holding: holdsNothing,
  hasAccepted: false,
  proven: noNames,
  emptiesUnknown: false,
  search: noSearch,
  mustAnswer: subscription.wildcard && claims.size === 0,
  claims,
  nonce: '',
  inFlight: [],
  refused: undefined,
  balked: undefined,
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
  const unsure = gainsAll ? mayHaveBeenSent(watch) : []
  return {
    ...watch,
    subscription,
    holding: askedFor(
      watch,
      [...asked, ...unsure.filter((name) => !covers(watch.subscription, name))],
      givenUp.filter((name) => !covers(subscription, name)),
    ),
    // What a client asks for anew it is sent anew, refused or not (xDS protocol, statement 14).
    search: asked.length === 0 ? watch.search : pardon(watch.search, isOnlyIn(watch, asked)),
    owed: withNames(owed, [...unsure, ...asked]),
    refused: asked.length > 0 || gainsAll ? undefined : watch.refused,
    balked: asked.length > 0 || gainsAll ? undefined : watch.balked,
    mustAnswer: (watch.mustAnswer && subscription.wildcard) || gainsAll,
  }
}

/** True of what was refused in these resources and stands in no other that the client asks for. */
const isOnlyIn = (
  { subscription, sent }: Watch,
  names: ReadonlyArray<string>,
): ((unit: Unit) => boolean) => {
  const asked = new Set(names)
  const others = [...PM.entries(sent)].filter(
    ({ name }) => covers(subscription, name) && !asked.has(name),
  )
  const again = names.flatMap((name) => PM.get(sent, name) ?? [])
  return ({ kind, name }) =>
    kind === 'Resource'
      ? asked.has(name)
      : again.some((table) => ownsIn(table, name)) && !others.some((table) => ownsIn(table, name))
}

/** The names of which the books say something, asked for or not. */
const mayHaveBeenSent = ({ sent, holding, inFlight }: Watch): ReadonlyArray<string> => {
  const known = [sent, holding.acked, ...inFlight.map(({ target }) => target)]
  return [...new Set([...new Set(known)].flatMap(namesOf))]
}

/** Of what it has just asked for nobody knows what it holds; what it gave up it holds no more. */
const askedFor = (
  { holding, subscription }: Watch,
  asked: ReadonlyArray<string>,
  givenUp: ReadonlyArray<string>,
): Holding => {
  const left: Holding = {
    // It may have stood there without having been asked for, and so without having been sent.
    acked: givenUp.reduce<Resources>((rest, name) => PM.remove(rest, name), holding.acked),
    unsure: givenUp.reduce((rest, name) => PM.remove(rest, name), holding.unsure),
  }
  const entries = asked.map((name) => {
    const isUnknown = PM.get(left.unsure, name)?.isUnknown ?? false
    if (!covers(subscription, name)) return justAsked(name, { isUnknown })
    const forms = PM.get(left.unsure, name)?.forms ?? []
    return justAsked(name, { accepted: lastAccepted(left, name), forms, isUnknown })
  })
  return entries.length === 0 ? left : recall(left, entries)
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
  refused: undefined,
  balked: undefined,
  repeat: 'Asked',
})

/** Sends these names behind whatever else is due, in so far as the client subscribes to them. */
export const owe = (watch: Watch, names: Iterable<string>): Watch => ({
  ...watch,
  owed: withNames(
    watch.owed,
    [...names].filter((name) => covers(watch.subscription, name)),
  ),
})
