import * as PM from '../../src/core/persistent-map.js'
import type { Resource } from '../../src/core/resource.js'
import { reuse, type Resources, type Snapshot } from '../../src/core/snapshot.js'
import { endpointType, isFullState } from '../../src/core/type-url.js'
import { clusterLingerMs } from '../../src/core/xds/linger.js'
import type { DiscoveryRequest, Response, Variant } from '../../src/core/xds/messages.js'
import { type NodeMemory, remember } from '../../src/core/xds/node-memory.js'
import type { Conviction } from '../../src/core/xds/search.js'
import { openSession, type Session, type SessionEvent, step } from '../../src/core/xds/session.js'
import { warmTimeoutMs } from '../../src/core/xds/timers.js'
import { covers } from '../support/ideal-interest.js'
import {
  aSnapshot,
  dataPlane,
  noEndpoints,
  sentBy,
  type Short,
  shortOf,
  shorts,
  types,
  type World,
} from '../support/xds.js'
import {
  forgetGone,
  type KnownByType,
  noteRequest,
  noteRetries,
  noteStalled,
  nothingKnown,
  publishedOf,
} from './session-known.js'

/** The stream under test, held to the laws that no exchange may break. */
export interface Wire {
  /** Takes a request. `repeats`: it asks once more for all that it names, and may. */
  readonly send: (request: DiscoveryRequest, repeats?: boolean) => void
  /** Publishes a snapshot, made anew. One that is equal to the last must send nothing. */
  readonly publish: (world: World) => void
  readonly pass: (ms: number) => void
  /**
   * Ends the stream and opens another one, on which the same snapshot is published, and which knows what
   * is remembered of the first.
   */
  readonly reopen: () => void
  /** The client has refused what cannot be searched: only another version helps. */
  readonly isExcused: (short: Short) => boolean
  /** What it has refused though it had accepted it before, by name. */
  readonly balked: (short: Short) => ReadonlySet<string>
  /** What the server holds to be refused in its present form, by name. */
  readonly convicted: (short: Short) => ReadonlySet<string>
}

interface State {
  session: Session
  snapshot: Snapshot | undefined
  nowMs: number
  readonly known: KnownByType
  readonly nonces: Set<string>
  /** Load assignments that are due behind a cluster that was sent. */
  readonly owedEndpoints: Set<string>
  /** Load assignments that may follow a cluster that was sent. */
  readonly freeEndpoints: Set<string>
  /** Every version that a name ever had, by type and name. */
  readonly history: Map<string, Set<string>>
  /** When a cluster went that was published before, in milliseconds. */
  readonly goneAt: Map<string, number>
  /** A name has gone: it may stay with the client for a while. */
  hasGone: boolean
}

const openState = (variant: Variant, memory?: NodeMemory): State => ({
  session: { ...openSession(variant), memory },
  snapshot: undefined,
  nowMs: 0,
  known: nothingKnown(),
  nonces: new Set(),
  owedEndpoints: new Set(),
  freeEndpoints: new Set(),
  history: new Map(),
  goneAt: new Map(),
  hasGone: memory !== undefined,
})

/** How many responses of a type may be without an answer. */
const maxOut: Readonly<Record<Short, number>> = { cds: 4, eds: 1, lds: 1, srds: 1, rds: 1 }

/** How long what was refused, and may be taken later, is not tried again, in milliseconds. */
const retryMs = 1_000

export const openWire = (variant: Variant, deliver: (response: Response) => void): Wire => {
  let state = openState(variant)
  const feed = (event: SessionEvent): number => {
    const [session, effects] = step(state.session, event, state.nowMs)
    const before = state.session
    state.session = session
    const isServed = !effects.some(({ _tag }) => _tag === 'Close')
    hold(isServed, 'a client that keeps to the protocol is served')
    for (const effect of effects)
      if (effect._tag === 'Convicted')
        checkConviction(state, before, shortOf(effect.typeUrl), effect.name)
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
    noteHistory(state, previous, snapshot)
    if (variant === 'sotw') forgetGone(state.known, snapshot)
    const sent = feed({ _tag: 'SnapshotPublished', snapshot })
    const isEqual = previous !== undefined && reuse(previous, snapshot) === previous
    hold(!isEqual || sent === 0, 'an unchanged world sends nothing')
  }
  return {
    send: (request, repeats = false) => {
      const short = shorts.find((each) => types[each] === request.typeUrl) ?? 'cds'
      // Of scopes an Envoy says that it holds what it has forgotten.
      const isTainted = short === 'srds' || state.session.memory?.doubts[types[short]] !== undefined
      const isBlind =
        variant === 'sotw' &&
        isFullState(types[short]) &&
        state.session.freshness === 'Held' &&
        state.session.watches[types[short]]?.holding.acked === undefined
      const { snapshot, nowMs } = state
      const published = publishedOf(snapshot, short)
      const isPresent = ([name, version]: readonly [string, string]): boolean =>
        snapshot === undefined || PM.get(published, name)?.version === version
      const hearing = { repeats, isTainted, isBlind, isPresent, nowMs }
      const mayAnswer = noteRequest(state.known[short], request, hearing)
      const hasWaited = noteWaiting(state)
      const sent = feed({ _tag: 'RequestReceived', request })
      hold(mayAnswer || hasWaited || sent === 0, 'a stale request gets no response of its own')
    },
    publish: (world) => publish(aSnapshot(world)),
    pass: (ms) => {
      state.nowMs += ms
      if (ms >= retryMs) for (const short of shorts) noteRetries(state.known[short], short)
      noteWaiting(state)
      feed({ _tag: 'TimePassed' })
    },
    reopen: () => {
      const { snapshot, nowMs, history, goneAt, known } = state
      state = { ...openState(variant, memoryOf(state.session)), nowMs, history, goneAt }
      for (const short of shorts) {
        recall(state, variant, short)
        for (const each of known[short].accepted) state.known[short].accepted.add(each)
        for (const each of known[short].balked) state.known[short].balked.add(each)
        for (const each of known[short].convictable) state.known[short].convictable.add(each)
      }
      if (snapshot !== undefined) publish(snapshot)
    },
    isExcused: (short) => state.known[short].isExcused,
    balked: (short) => state.known[short].balked,
    convicted: (short) => convictedIn(state, short),
  }
}

const noteWaiting = ({ known, nowMs }: State): boolean =>
  noteStalled(known.cds, (sentAt) => nowMs >= sentAt + warmTimeoutMs)

/** What is remembered of a client whose own word does not count. */
const recall = ({ known, session }: State, variant: Variant, short: Short): void => {
  const { memory } = session
  if (memory === undefined) return
  const typeUrl = types[short]
  known[short].isDisturbed = foundBefore(memory, short).length > 0
  const doubts = memory.doubts[typeUrl]
  if (!isFullState(typeUrl) || (variant === 'delta' && doubts === undefined)) return
  known[short].hasAccepted = memory.accepted[typeUrl] !== undefined
  for (const { name, version } of PM.entries(memory.accepted[typeUrl]))
    if (PM.get(doubts, name) === undefined) known[short].held.set(name, version)
}

const foundBefore = (memory: NodeMemory | undefined, short: Short): ReadonlyArray<Conviction> => {
  const search = memory?.searches[types[short]]
  return search === undefined ? [] : [...search.convicted.values(), ...search.past.values()]
}

const memoryOf = (session: Session): NodeMemory | undefined =>
  session.node === undefined ? session.memory : remember(session.node, dataPlane, session)

const convictedIn = ({ session, snapshot }: State, short: Short): ReadonlySet<string> =>
  new Set(
    [...(session.watches[types[short]]?.search.convicted.values() ?? [])]
      .filter(
        ({ unit }) => PM.get(publishedOf(snapshot, short), unit.name)?.version === unit.version,
      )
      .map(({ unit }) => unit.name),
  )

const noteHistory = (state: State, before: Snapshot | undefined, after: Snapshot): void => {
  for (const short of shorts) {
    const now = publishedOf(after, short)
    for (const { name, version } of PM.entries(now)) {
      const versions = state.history.get(`${short} ${name}`) ?? new Set()
      state.history.set(`${short} ${name}`, versions.add(version))
      if (short === 'cds') state.goneAt.delete(name)
    }
    for (const { name } of PM.entries(publishedOf(before, short))) {
      if (PM.get(now, name) !== undefined) continue
      state.hasGone = true
      if (short === 'cds') state.goneAt.set(name, state.nowMs)
    }
  }
}

/** Nobody is convicted but by a refusal that concerned it alone, or by being slow alone. */
const checkConviction = ({ known }: State, before: Session, short: Short, name: string): void => {
  const remembered = foundBefore(before.memory, short)
  const isKnown = remembered.some(({ unit }) => unit.name === name)
  const wasFound = [...known[short].convictable].some((each) => each.startsWith(`${name} `))
  hold(wasFound || isKnown, `${short} ${name} was refused alone`)
}

/** The laws of a single response. */
const checkResponse = (state: State, variant: Variant, response: Response): void => {
  const { typeUrl, nonce, resources, removed, version } = response
  const short = shortOf(typeUrl)
  const known = state.known[short]
  const published = publishedOf(state.snapshot, short)
  const out = known.out.filter(({ isStalled }) => !isStalled)
  hold(state.snapshot !== undefined, 'nothing is answered before something is published')
  hold(out.length < maxOut[short], `at most ${maxOut[short]} ${short} responses are out at a time`)
  hold(!state.nonces.has(nonce) && nonce !== '', 'no nonce is used twice')
  const isPlain = !known.isDisturbed && !state.hasGone
  hold(!isPlain || version === PM.digestOf(published), 'the version is that of the type')
  const names = [...resources.map(({ name }) => name), ...removed]
  hold(new Set(names).size === names.length, 'no name stands in a response twice')
  hold(isInOrder(resources.map(({ name }) => name)), 'resources stand in the order of their names')
  hold(resources.length === 0 || removed.length === 0, 'nothing comes and goes in one response')
  for (const resource of resources) checkForm(state, short, resource)
  for (const name of removed) checkRemoval(state, short, name)
  hold(variant === 'delta' || removed.length === 0, 'state of the world has no removals')
  const mayBeEmpty = variant === 'sotw' || known.mayBeEmpty
  hold(mayBeEmpty || names.length > 0, 'a delta response says something')
  if (variant === 'sotw' && isFullState(typeUrl)) checkWhole(state, short, published, resources)
  else for (const resource of resources) checkNews(state, short, resource)
}

const isInOrder = (names: ReadonlyArray<string>): boolean =>
  names.every((name, index) => index === 0 || (names[index - 1] ?? '') < name)

/** The latest wins; older forms stand in for what is refused, and for what lingers. */
const checkForm = (state: State, short: Short, { name, version }: Resource): void => {
  const { asked, isDisturbed, banned, dueAgain } = state.known[short]
  hold(covers(asked, name), `${short} ${name} is asked for`)
  const present = PM.get(publishedOf(state.snapshot, short), name)?.version
  const mayBeOlder = isDisturbed || (present === undefined && short !== 'lds')
  const isOlder = state.history.get(`${short} ${name}`)?.has(version) ?? false
  const isNone = short === 'eds' && version === noEndpoints(name).version
  hold(
    version === present || (mayBeOlder && (isOlder || isNone)),
    `${short} ${name}: the latest wins`,
  )
  const refusedAt = banned.get(`${name} ${version}`)
  const mayRetry = short === 'lds' && state.nowMs - (refusedAt ?? 0) >= retryMs
  hold(
    refusedAt === undefined || mayRetry || covers(dueAgain, name),
    `${short} ${name} was refused alone and is not tried again`,
  )
}

const checkRemoval = (state: State, short: Short, name: string): void => {
  const { isDisturbed, said, dueAgain } = state.known[short]
  if (isDisturbed) return
  hold(PM.get(publishedOf(state.snapshot, short), name) === undefined, `${short} ${name} is gone`)
  if (covers(dueAgain, name) || (short === 'eds' && state.freeEndpoints.has(name))) return
  hold(said.get(name) !== 'gone', `${short} -${name} is not said twice`)
  const goneAt = short === 'cds' && said.has(name) ? state.goneAt.get(name) : undefined
  hold(
    goneAt === undefined || state.nowMs - goneAt >= clusterLingerMs,
    `cds ${name} lingers before it goes`,
  )
}

/** State of the world, clusters and listeners: a response is the whole truth. */
const checkWhole = (
  { known, history }: State,
  short: Short,
  published: Resources,
  resources: ReadonlyArray<Resource>,
): void => {
  const { asked, said, isDisturbed, dueAgain, mayBeEmpty } = known[short]
  if (isDisturbed) return
  const names = new Set(resources.map(({ name }) => name))
  const missing = [...PM.entries(published)].filter(
    ({ name }) => covers(asked, name) && !names.has(name),
  )
  hold(missing.length === 0, 'a response holds all that is asked for')
  const more = resources.filter(({ name }) => PM.get(published, name) === undefined)
  const mayLinger = short === 'cds' && more.every(({ name }) => history.has(`cds ${name}`))
  hold(more.length === 0 || mayLinger, 'a response holds nothing else, save what lingers')
  const isSame =
    names.size === said.size && resources.every(({ name, version }) => said.get(name) === version)
  hold(!isSame || dueAgain.size > 0 || mayBeEmpty, `${short}: nothing is said twice`)
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
  // Scopes follow each listener.
  if (short === 'lds' && resources.length > 0) state.known.srds.said.clear()
  if (short === 'eds') checkEndpoints(state, variant, response)
  for (const { name, version } of resources) known.said.set(name, version)
  for (const name of removed) known.said.set(name, 'gone')
  const isWhole = variant === 'sotw' && isFullState(typeUrl)
  if (isWhole) known.said = new Map(resources.map(({ name, version }) => [name, version]))
  const out = { response, sentAt: state.nowMs, isStalled: false }
  Object.assign(known, { nonce, out: [...known.out, out], mayBeEmpty: false })
  const sent = new Set([...resources.map(({ name }) => name), ...removed])
  known.dueAgain = new Set(
    isWhole ? [] : [...known.dueAgain].filter((name) => name === '*' || !sent.has(name)),
  )
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
  const { said, dueAgain, isDisturbed } = known.cds
  for (const { name, version, refs } of resources) {
    const isNew = !isDisturbed && (said.get(name) !== version || dueAgain.has(name))
    for (const ref of refs.filter(({ typeUrl }) => typeUrl === endpointType)) {
      freeEndpoints.add(ref.name)
      if (variant === 'delta' || isNew) owedEndpoints.add(ref.name)
    }
  }
}

const checkEndpoints = (
  { snapshot, known, owedEndpoints, freeEndpoints }: State,
  variant: Variant,
  { resources, removed }: Response,
): void => {
  const names = resources.map(({ name }) => name)
  for (const name of owedEndpoints)
    if (covers(known.eds.asked, name) && PM.get(publishedOf(snapshot, 'eds'), name) !== undefined)
      hold(names.includes(name) || known.eds.isDisturbed, `endpoints ${name} follow their cluster`)
  // In a search they may have to wait for what is tried.
  if (known.eds.isDisturbed) for (const name of names) owedEndpoints.delete(name)
  else owedEndpoints.clear()
  // That there are none is said in a response of its own.
  if (variant === 'sotw' && !known.eds.isDisturbed) freeEndpoints.clear()
  for (const name of [...names, ...removed]) freeEndpoints.delete(name)
}

/** The laws of a step as a whole: nothing that is due is left lying. */
const checkRest = ({ snapshot, known, owedEndpoints }: State): void => {
  const { eds } = known
  for (const name of owedEndpoints) if (!covers(eds.asked, name)) owedEndpoints.delete(name)
  if (eds.out.length > 0 || snapshot === undefined) return
  const due = [...owedEndpoints].filter(
    (name) => PM.get(publishedOf(snapshot, 'eds'), name) !== undefined,
  )
  hold(due.length === 0, `endpoints ${due.join()} follow their cluster at once`)
}

/** An assertion that costs nothing while it holds: it is asked some hundred thousand times. */
const hold = (holds: boolean, law: string): void => {
  if (!holds) throw new Error(`broken: ${law}`)
}
