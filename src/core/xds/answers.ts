import * as PM from '../persistent-map.js'
import type { Resource } from '../resource.js'
import type { Resources } from '../snapshot.js'
import { clusterType, isFullState, routeType, type TypeUrl } from '../type-url.js'
import { put } from './advance.js'
import { countBalks } from './balks.js'
import {
  type Doubt,
  doubt,
  type Holding,
  isCertain,
  lastAccepted,
  recall,
  settleWith,
  unaccepted,
  type Unsure,
} from './holding.js'
import type { Variant } from './messages.js'
import { withNames } from './names.js'
import { namesPoison } from './probe.js'
import {
  accuse,
  accuseNamed,
  acquit,
  type Evidence,
  keepOnly,
  pardon,
  type Unit,
} from './search.js'
import { unitsOf } from './units.js'
import { changedBy, type InFlight, type Watch } from './watch.js'

/**
 * Which of the responses in flight an answer speaks of: the one with its nonce; in state of the world, where
 * answers may be put together, the older ones too.
 */
export const answeredBy = (
  { inFlight }: Watch,
  nonce: string,
  variant: Variant,
): ReadonlyArray<InFlight> => {
  const at = inFlight.findIndex((each) => each.nonce === nonce)
  return at === -1 ? [] : inFlight.slice(variant === 'sotw' ? 0 : at, at + 1)
}

/** Notes that these responses were accepted; the last of them says what is held now. */
export const accept = (
  watch: Watch,
  answered: ReadonlyArray<InFlight>,
  typeUrl: TypeUrl,
  variant: Variant,
): Watch => {
  const last = answered.at(-1)
  if (last === undefined) return watch
  const next = without(watch, answered)
  // What was taken out in the meantime has been accepted only to go again with the next answer.
  if (last.isStalled && next.inFlight.length > 0) return acceptLate(next, last)
  const union = answered.length === 1 ? last : { ...last, resources: answered.flatMap(resourcesOf) }
  return {
    ...next,
    hasAccepted: true,
    balked: last.trial === undefined ? undefined : watch.balked,
    proven:
      typeUrl === routeType
        ? withNames(
            watch.proven,
            answered.flatMap(resourcesOf).map(({ name }) => name),
          )
        : watch.proven,
    holding: settleWith(
      watch.holding,
      union,
      typeUrl,
      variant === 'sotw' && isFullState(typeUrl) ? watch.owed : 'OneByOne',
    ),
    search: last.trial === undefined ? watch.search : acquit(watch.search, last.trial),
  }
}

/** What has been taken out, or sent in another form, since a response left, its late answer does not settle. */
const acceptLate = (watch: Watch, late: InFlight): Watch => {
  const touched = changedBy(watch.inFlight, late)
  const settled = late.resources.filter(({ name }) => !touched.has(name))
  const gone = late.removed.filter((name) => !touched.has(name))
  const isSettled = ({ name, version }: Unit): boolean =>
    settled.some((each) => each.name === name && each.version === version)
  const holding = doubtAll(watch, [late], inPart)
  const names = [...settled.map(({ name }) => name), ...gone]
  return {
    ...watch,
    hasAccepted: true,
    holding: {
      acked: settled.reduce<Resources>(PM.set, gone.reduce<Resources>(PM.remove, holding.acked)),
      unsure: names.reduce((map, name) => PM.remove(map, name), holding.unsure),
    },
    search: watch.inFlight.some(({ trial }) => trial !== undefined)
      ? watch.search
      : keepOnly(watch.search, (unit) => !isSettled(unit)),
  }
}

/**
 * Notes that these responses were refused.
 *
 * Nobody knows what the client holds of them (xDS protocol, 2.8, A to D), so that all of it is doubted, counts
 * as not sent, and is searched for the culprit. Clusters count as sent: one that was refused may warm for
 * ever and hold back every later answer (run), so that what is under suspicion is taken out before anything is
 * tried. No route names it yet.
 */
export const refuse = (
  watch: Watch,
  answered: ReadonlyArray<InFlight>,
  typeUrl: TypeUrl,
  { evidence, isBlind }: RefusalOf,
): Watch => {
  if (answered.length === 0) return watch
  const next = without(watch, answered)
  if (answered.some(({ isProbe }) => isProbe)) return refuseProbe(next, answered, evidence)
  const isRoutes = typeUrl === routeType
  const tried = triedIn(answered)
  const known = unitsOf(watch, answered)
  // A table that has only lost objects brings nothing new either.
  const balked = tried.length > 0 ? watch.balked : countBalks(watch, answered, evidence.nowMs)
  const isAgain = tried.length === 0 && (balked?.times ?? 0) > 1
  const isRiddle = tried.length === 0 && known.every(({ kind }) => isRoutes && kind === 'Resource')
  if ((isRiddle || isAgain) && !isForgotten(watch, answered))
    return refuse(forgetEarlier(watch, answered), answered, typeUrl, { evidence, isBlind })
  const units = tried.length > 0 ? tried : known
  const accuseOf = isBlind && tried.length === 0 ? accuseNamed : accuse
  const search = accuseOf(watch.search, units, evidence)
  const isStuck = typeUrl === clusterType
  // Where nobody is accused there is nothing else to send, and the same again would be refused again.
  const isHelpless =
    search === watch.search && answered.some(({ resources }) => resources.length > 0)
  const how = isAlone(watch.holding, answered) ? alone : inPart
  return {
    ...(isStuck || isHelpless ? next : unsend(next, answered)),
    refused: answered.at(-1),
    balked,
    holding: doubtAll(next, answered, { ...how, isSettling: isHelpless }),
    search: isStuck ? { ...search, isTrialNext: false } : search,
  }
}

/**
 * Of these nothing counts as accepted but what was on this stream. Where nothing is new in what was refused the culprit
 * was accepted earlier, maybe by another process with this id; and whoever was convicted beside it may be innocent.
 */
const forgetEarlier = (watch: Watch, refused: ReadonlyArray<InFlight>): Watch => ({
  ...watch,
  search: pardon(watch.search, () => true),
  holding: recall(watch.holding, earlierIn(watch, refused).map(unaccepted)),
})

const isForgotten = (watch: Watch, refused: ReadonlyArray<InFlight>): boolean =>
  earlierIn(watch, refused).length === 0

const earlierIn = (
  { holding }: Pick<Watch, 'holding'>,
  refused: ReadonlyArray<InFlight>,
): ReadonlyArray<Unsure> =>
  refused.flatMap(resourcesOf).flatMap(({ name }) => {
    const entry = PM.get(holding.unsure, name)
    const isEarlier = entry?.accepted !== undefined && acceptedHere(holding, name) === undefined
    return isEarlier ? [entry] : []
  })

/** A refusal as it came. */
export interface RefusalOf {
  readonly evidence: Evidence
  /** A response is the whole truth to the client, and nobody knows what it held before the first one. */
  readonly isBlind: boolean
}

/** A refused probe has changed nothing; whether something is wrong with what it tried it says by name. */
const refuseProbe = (
  watch: Watch,
  answered: ReadonlyArray<InFlight>,
  evidence: Evidence,
): Watch => ({
  ...unsend(watch, answered),
  search: namesPoison(evidence.message)
    ? acquit(watch.search, triedIn(answered))
    : accuse(watch.search, triedIn(answered), evidence),
})

/** Notes that these responses have an answer, which says nothing of what the client holds. */
export const settle = (watch: Watch, answered: ReadonlyArray<InFlight>): Watch => ({
  ...without(watch, answered),
  holding: doubtAll(watch, answered, { ...inPart, isSettling: true }),
})

/** What a person reads of a cluster that does not become ready. */
export const stalledMessage = 'it did not become ready in time, and was taken out'

/**
 * Gives up waiting for the responses in flight: what was new in them is searched for what holds the answer
 * back. It counts as sent, so that it is taken out, which sets the answers free. What the client may have come with
 * is not accused: its tables may name it.
 */
export const stall = (
  watch: Watch,
  how: Pick<Evidence, 'kind' | 'nowMs'>,
  mayHaveBrought: (cluster: Resource) => boolean,
): Watch => {
  const waiting = watch.inFlight.filter(({ isStalled }) => !isStalled)
  const tried = triedIn(waiting)
  const brought = new Set(
    waiting
      .flatMap(resourcesOf)
      .filter(mayHaveBrought)
      .map(({ name }) => name),
  )
  const fresh = unitsOf(watch, waiting).filter(
    ({ name }) =>
      !brought.has(name) &&
      // Of a client that may only be busy nothing is taken away that it has, in whatever form.
      (how.kind !== 'Silent' || PM.get(watch.holding.unsure, name)?.isUnknown !== true),
  )
  const units = tried.length > 0 ? tried : fresh
  const search = accuse(watch.search, units, { ...how, message: stalledMessage })
  return {
    ...watch,
    inFlight: watch.inFlight.map((each) => ({ ...each, trial: undefined, isStalled: true })),
    search: { ...search, isTrialNext: false },
  }
}

const triedIn = (responses: ReadonlyArray<InFlight>): ReadonlyArray<Unit> =>
  responses.flatMap(({ trial }) => trial ?? [])

const resourcesOf = ({ resources }: InFlight): ReadonlyArray<Resource> => resources

const without = (watch: Watch, answered: ReadonlyArray<InFlight>): Watch => ({
  ...watch,
  inFlight: watch.inFlight.filter((each) => !answered.includes(each)),
})

const alone: Doubt = { isAtomic: true, isSettling: false }
const inPart: Doubt = { isAtomic: false, isSettling: false }

/** True if a refusal concerns one resource: an Envoy applies that as a whole, or not at all. */
const isAlone = (holding: Holding, refused: ReadonlyArray<InFlight>): boolean => {
  const fresh = refused.flatMap(resourcesOf).filter((resource) => !isCertain(holding, resource))
  return fresh.length <= 1 && refused.every(({ removed }) => removed.length === 0)
}

const doubtAll = (
  { holding }: Pick<Watch, 'holding'>,
  refused: ReadonlyArray<InFlight>,
  how: Doubt,
): Holding =>
  refused.reduce<Holding>((soFar, { resources, removed }) => {
    const come = resources
      .filter((resource) => !isCertain(soFar, resource))
      .reduce((of, resource) => doubt(of, resource.name, resource, how), soFar)
    return removed.reduce((of, name) => doubt(of, name, undefined, how), come)
  }, holding)

/** Notes that the stream is gone, and with it the answers to what is in flight. */
export const abandon = (watch: Watch): Holding => doubtAll(watch, watch.inFlight, inPart)

/**
 * What was refused counts as not sent. A refused removal counts as told: there is nothing else to say about it,
 * until it is withdrawn. Of clusters, of which several responses may be out, this is not asked.
 */
const unsend = (watch: Watch, refused: ReadonlyArray<InFlight>): Watch => {
  const { holding } = watch
  // All that was accepted is all that counts as sent: by reference, as a rule.
  const come = refused
    .flatMap(resourcesOf)
    .reduce((map, { name }) => put(map, name, acceptedHere(holding, name)), holding.acked)
  const gone = refused.flatMap(({ removed }) => removed)
  return { ...watch, sent: gone.reduce((map, name) => put(map, name, undefined), come) }
}

/** What it has accepted last, if that was on this stream: what it has from an earlier one was not sent here. */
const acceptedHere = (holding: Holding, name: string): Resource | undefined => {
  const accepted = lastAccepted(holding, name)
  return accepted !== undefined && PM.get(holding.acked, name) === accepted ? accepted : undefined
}
