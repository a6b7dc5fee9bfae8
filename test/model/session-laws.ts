import * as PM from '../../src/core/persistent-map.js'
import type { Resource } from '../../src/core/resource.js'
import { reuse, type Resources, type Snapshot } from '../../src/core/snapshot.js'
import { endpointType, isFullState } from '../../src/core/type-url.js'
import type { DiscoveryRequest, Response, Variant } from '../../src/core/xds/messages.js'
import { openSession, type Session, type SessionEvent, step } from '../../src/core/xds/session.js'
import { covers } from '../support/ideal-interest.js'
import {
  aSnapshot,
  sentBy,
  type Short,
  shortOf,
  shorts,
  types,
  type World,
} from '../support/xds.js'
import {
  forgetGone,
  type Known,
  type KnownByType,
  notePublished,
  noteRequest,
  nothingKnown,
  publishedOf,
} from './session-known.js'

/** The stream under test, held to the laws that no exchange may break. */
export interface Wire {
  /** Takes a request. `repeats`: it asks once more for all that it names, and may. */
  readonly send: (request: DiscoveryRequest, repeats?: boolean) => void
  /** Publishes a snapshot, made anew. One that is equal to the last must send nothing. */
  readonly publish: (world: World) => void
  /** Ends the stream and opens another one, on which the same snapshot is published. */
  readonly reopen: () => void
}

interface State {
  session: Session
  snapshot: Snapshot | undefined
  readonly known: KnownByType
  readonly nonces: Set<string>
  /** Load assignments that are due behind a cluster that was sent. */
  readonly owedEndpoints: Set<string>
  /** Load assignments that may follow a cluster that was sent. */
  readonly freeEndpoints: Set<string>
}

const openState = (variant: Variant): State => ({
  session: openSession(variant),
  snapshot: undefined,
  known: nothingKnown(),
  nonces: new Set(),
  owedEndpoints: new Set(),
  freeEndpoints: new Set(),
})

export const openWire = (variant: Variant, deliver: (response: Response) => void): Wire => {
  let state = openState(variant)
  const feed = (event: SessionEvent): number => {
    const [session, effects] = step(state.session, event, 0)
    state.session = session
    const isServed = !effects.some(({ _tag }) => _tag === 'Close')
    hold(isServed, 'a client that keeps to the protocol is served')
    const responses = sentBy(effects)
    for (const response of responses) {
      checkResponse(state, variant, response)
      noteResponse(state, variant, response)
      deliver(response)
    }
    checkRest(state)
    return responses.length
  }
  const publish = (snapshot: Snapshot): void => {
    const previous = state.snapshot
    state.snapshot = snapshot
    notePublished(state.known, previous, snapshot)
    if (variant === 'sotw') forgetGone(state.known, snapshot)
    const sent = feed({ _tag: 'SnapshotPublished', snapshot })
    const isEqual = previous !== undefined && reuse(previous, snapshot) === previous
    hold(!isEqual || sent === 0, 'an unchanged world sends nothing')
  }
  return {
    send: (request, repeats = false) => {
      const short = shorts.find((each) => types[each] === request.typeUrl) ?? 'cds'
      const mayAnswer = noteRequest(state.known[short], request, repeats)
      const sent = feed({ _tag: 'RequestReceived', request })
      hold(mayAnswer || sent === 0, 'a stale request gets no response of its own')
    },
    publish: (world) => publish(aSnapshot(world)),
    reopen: () => {
      const { snapshot } = state
      state = openState(variant)
      if (snapshot !== undefined) publish(snapshot)
    },
  }
}

/** The laws of a single response. */
const checkResponse = (state: State, variant: Variant, response: Response): void => {
  const { typeUrl, nonce, resources, removed, version } = response
  const short = shortOf(typeUrl)
  const known = state.known[short]
  const published = publishedOf(state.snapshot, short)
  hold(state.snapshot !== undefined, 'nothing is answered before something is published')
  hold(!known.unanswered, `one ${short} response is out at a time`)
  hold(!state.nonces.has(nonce) && nonce !== '', 'no nonce is used twice')
  hold(known.hasReason, `a ${short} response has a reason`)
  hold(version === PM.digestOf(published), 'the version is that of the type')
  const names = [...resources.map(({ name }) => name), ...removed]
  hold(new Set(names).size === names.length, 'no name stands in a response twice')
  hold(isInOrder(resources.map(({ name }) => name)), 'resources stand in the order of their names')
  for (const resource of resources) {
    hold(covers(known.asked, resource.name), `${resource.name} is asked for`)
    hold(resource.version === PM.get(published, resource.name)?.version, 'the latest wins')
  }
  for (const name of removed) hold(PM.get(published, name) === undefined, `${name} is gone`)
  hold(variant === 'delta' || removed.length === 0, 'state of the world has no removals')
  const mayBeEmpty = variant === 'sotw' || known.mayBeEmpty
  hold(mayBeEmpty || names.length > 0, 'a delta response says something')
  if (variant === 'sotw' && isFullState(typeUrl)) checkWhole(known, published, resources)
  else for (const resource of resources) checkNews(state, short, resource)
}

const isInOrder = (names: ReadonlyArray<string>): boolean =>
  names.every((name, index) => index === 0 || (names[index - 1] ?? '') < name)

/** State of the world, clusters and listeners: a response is the whole truth. */
const checkWhole = (
  { asked }: Known,
  published: Resources,
  resources: ReadonlyArray<Resource>,
): void => {
  const whole = [...PM.entries(published)].filter(({ name }) => covers(asked, name))
  const isWhole =
    whole.length === resources.length &&
    whole.every(({ name }, index) => resources[index]?.name === name)
  hold(isWhole, 'a response holds all that is asked for')
}

/** What was said before, accepted or refused, is not said again without being asked for. */
const checkNews = ({ known, freeEndpoints }: State, short: Short, resource: Resource): void => {
  const { said, dueAgain } = known[short]
  const { name, version } = resource
  if (covers(dueAgain, name) || (short === 'eds' && freeEndpoints.has(name))) return
  hold(said.get(name) !== version, `${short} ${name} is not said twice`)
}

const noteResponse = (state: State, variant: Variant, response: Response): void => {
  const { typeUrl, nonce, resources, removed } = response
  const short = shortOf(typeUrl)
  const known = state.known[short]
  state.nonces.add(nonce)
  if (short === 'cds') noteClusters(state, variant, resources)
  if (short === 'eds') checkEndpoints(state, resources)
  for (const { name, version } of resources) known.said.set(name, version)
  for (const name of removed) known.said.set(name, 'gone')
  const isWhole = variant === 'sotw' && isFullState(typeUrl)
  if (isWhole) known.said = new Map(resources.map(({ name, version }) => [name, version]))
  Object.assign(known, { nonce, unanswered: true, hasReason: false, mayBeEmpty: false })
  known.dueAgain = new Set()
}

/**
 * Endpoints are due behind a cluster that is sent. A state-of-the-world response repeats clusters that
 * have not changed, only to say that they are there: behind these they may come.
 */
const noteClusters = (
  { known, owedEndpoints, freeEndpoints }: State,
  variant: Variant,
  resources: ReadonlyArray<Resource>,
): void => {
  const { said, dueAgain } = known.cds
  for (const { name, version, refs } of resources) {
    const isSent = variant === 'delta' || said.get(name) !== version || dueAgain.has(name)
    for (const ref of refs.filter(({ typeUrl }) => typeUrl === endpointType)) {
      freeEndpoints.add(ref.name)
      if (isSent) owedEndpoints.add(ref.name)
    }
  }
  known.eds.hasReason = true
}

const checkEndpoints = (
  { snapshot, known, owedEndpoints, freeEndpoints }: State,
  resources: ReadonlyArray<Resource>,
): void => {
  const names = resources.map(({ name }) => name)
  for (const name of owedEndpoints)
    if (covers(known.eds.asked, name) && PM.get(publishedOf(snapshot, 'eds'), name) !== undefined)
      hold(names.includes(name), `endpoints ${name} follow their cluster`)
  owedEndpoints.clear()
  freeEndpoints.clear()
}

/** The laws of a step as a whole: nothing that is due is left lying. */
const checkRest = ({ snapshot, known, owedEndpoints }: State): void => {
  const { eds } = known
  for (const name of owedEndpoints) if (!covers(eds.asked, name)) owedEndpoints.delete(name)
  if (eds.unanswered || snapshot === undefined) return
  const due = [...owedEndpoints].filter(
    (name) => PM.get(publishedOf(snapshot, 'eds'), name) !== undefined,
  )
  hold(due.length === 0, `endpoints ${due.join()} follow their cluster at once`)
}

/** An assertion that costs nothing while it holds: it is asked some hundred thousand times. */
const hold = (holds: boolean, law: string): void => {
  if (!holds) throw new Error(`broken: ${law}`)
}
