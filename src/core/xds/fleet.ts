import * as PM from '../persistent-map.js'
import type { NodeIdentity } from './messages.js'
import { type NodeMemories, type NodeMemory, remember, unite } from './node-memory.js'
import {
  dataPlaneOf,
  nextTimer as nextTimerOf,
  openSession,
  type Session,
  type SessionEvent,
  step as stepSession,
} from './session.js'
import {
  type FleetEffect,
  type FleetEvent,
  type FleetState,
  type FleetStep,
  maxRemembered,
  type StreamId,
  type StreamSession,
} from './fleet-state.js'

export {
  emptyFleet,
  type FleetEffect,
  type FleetEvent,
  type FleetState,
  type FleetStep,
  maxRemembered,
  openFleet,
  type StreamId,
  type StreamSession,
} from './fleet-state.js'

/**
 * Advances all streams by one event, at a time in milliseconds that never goes back.
 *
 * | event             | what it does                                                    |
 * | ----------------- | --------------------------------------------------------------- |
 * | StreamOpened      | opens a session on the published snapshot                       |
 * | RequestReceived   | advances that session; of an unknown stream it is ignored       |
 * | StreamClosed      | forgets the session, and remembers what its node holds          |
 * | SnapshotPublished | advances every session, in the order of their ids               |
 * | NodeAdmitted      | lets route tables go to the sessions of that node               |
 * | NodeForgotten     | forgets what is remembered of it, see `mayForget`               |
 * | AcksDemanded      | advances every session                                          |
 * | TimePassed        | advances the sessions that wait for the time                    |
 *
 * A request costs what its session costs, a publish the sum over all streams; no stream waits for
 * another one.
 */
export const step = (state: FleetState, event: FleetEvent, nowMs: number): FleetStep => {
  switch (event._tag) {
    case 'StreamOpened': {
      const session = openSession(event.variant, state.options)
      const { snapshot } = state
      const { isProving } = state
      const begun = { ...session, isProving, ...(snapshot !== undefined && { snapshot }) }
      return [withSession(state, event.stream, begun), []]
    }
    case 'RequestReceived':
      return advance(recognize(state, event), event.stream, event, nowMs)
    case 'StreamClosed':
      return [close(state, event.stream), []]
    case 'SnapshotPublished':
      return advanceAll({ ...state, snapshot: event.snapshot }, event, nowMs, () => true)
    case 'NodeAdmitted':
      return advanceAll(
        { ...state, admitted: latest([...state.admitted, event.id]) },
        { _tag: 'Admitted' },
        nowMs,
        ({ session }) => session.node?.id === event.id,
      )
    case 'NodeForgotten':
      return [mayForget(state, event.id) === 'Forgotten' ? forget(state, event.id) : state, []]
    case 'AcksDemanded':
      return advanceAll({ ...state, isProving: event.isOn }, event, nowMs, () => true)
    case 'TimePassed':
      return advanceAll(state, event, nowMs, ({ due }) => due !== undefined && due <= nowMs)
  }
}

/**
 * Whether there is something to be forgotten of a node. What one says that is connected counts, unless others may
 * have had its id: then what these left behind can be forgotten.
 */
export const mayForget = (state: FleetState, id: string): 'Forgotten' | 'Connected' | 'Unknown' => {
  const known = state.memory.get(id)
  const isConnected = sessionsOf(state, id).length > 0
  if (known !== undefined && (known.isShared || !isConnected)) return 'Forgotten'
  return isConnected ? 'Connected' : 'Unknown'
}

const forget = (state: FleetState, id: string): FleetState => {
  const memory = new Map(state.memory)
  memory.delete(id)
  const twins = sessionsOf(state, id)
  const [only, ...others] = twins
  // One that is alone now speaks for itself.
  if (only !== undefined)
    return others.length > 0 ? { ...state, memory } : notShared({ ...state, memory }, only)
  // It is off the roster: should it come back, it is to be written down first.
  return { ...state, memory, admitted: new Set([...state.admitted].filter((each) => each !== id)) }
}

const notShared = (state: FleetState, { name, session }: StreamSession): FleetState =>
  session.memory === undefined
    ? state
    : withSession(state, name, { ...session, memory: { ...session.memory, isShared: false } })

const latest = (ids: ReadonlyArray<string>): ReadonlySet<string> =>
  new Set([...new Set(ids)].slice(-maxRemembered))

/** When the fleet wants a `TimePassed`, in milliseconds; `undefined` if nobody waits. */
export const nextTimer = ({ due }: FleetState): number | undefined => due

const earliest = (sessions: FleetState['sessions']): number | undefined => {
  let first: number | undefined
  for (const { due } of PM.entries(sessions)) first = earlier(first, due)
  return first
}

const earlier = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || (b !== undefined && b < a) ? b : a

/** The first request of a stream says whose it is, and what is remembered of that node. */
const recognize = (
  state: FleetState,
  { stream, request }: Extract<FleetEvent, { readonly _tag: 'RequestReceived' }>,
): FleetState => {
  const found = PM.get(state.sessions, stream)
  if (found === undefined || found.session.node !== undefined) return state
  if (request.node === undefined) return state
  const { id } = request.node
  const known = state.memory.get(id)
  const twins = sessionsOf(state, id).map(({ session }) => session)
  const all = [
    ...(known === undefined ? [] : [known]),
    ...twins.flatMap((twin) => (twin.node === undefined ? [] : [memoryOf(twin, twin.node)])),
  ]
  const [first, ...others] = all
  // That an id is shared is to be on the roster too, before its second node is sent anything.
  const isAdmitted =
    found.session.isAdmitted ||
    (state.admitted.has(id) && (twins.length === 0 || known?.isShared === true))
  const session = { ...found.session, isAdmitted }
  if (first === undefined) return withSession(state, stream, session)
  // A stream that nobody has seen end may be the newcomer's own.
  // So may one that ended while this one was open already; nor is it sure to be its successor.
  const isShared = twins.length > 0 || found.outlived.has(id)
  const memory = others.reduce(unite, isShared ? { ...first, isShared } : first)
  // From now on nobody's ACK speaks for what is lost: that counts on beside those that are connected.
  const isDoubted = known !== undefined && !known.isShared && isShared
  const doubted = isDoubted
    ? { ...state, memory: new Map(state.memory).set(id, { ...known, isShared }) }
    : state
  return withSession(doubted, stream, { ...session, memory })
}

const memoryOf = (session: Session, node: NodeIdentity): NodeMemory =>
  remember(node, dataPlaneOf(node), session)

/** Costs O(streams). */
const sessionsOf = ({ sessions }: FleetState, id: string): ReadonlyArray<StreamSession> =>
  [...PM.entries(sessions)].filter(({ session }) => session.node?.id === id)

/**
 * What a node leaves behind takes the place of what was remembered of it. Of several clients that had one id at
 * once nobody can say which of them comes back: what all of them held stays.
 */
const close = (state: FleetState, stream: StreamId): FleetState => {
  const found = PM.get(state.sessions, stream)
  if (found === undefined) return state
  const sessions = outlive(PM.remove(state.sessions, stream), found.session.node?.id)
  const due = found.due === state.due ? earliest(sessions) : state.due
  const { node } = found.session
  if (node === undefined) return { ...state, sessions, due }
  const memory = new Map(state.memory)
  leave(memory, found.session, node, sessionsOf({ ...state, sessions }, node.id).length > 0)
  return forgetOldest({ ...state, sessions, due, memory })
}

/** Notes with each stream that has not said yet who it is that it has seen this node's stream end. */
const outlive = (
  sessions: FleetState['sessions'],
  id: string | undefined,
): FleetState['sessions'] =>
  id === undefined
    ? sessions
    : [...PM.entries(sessions)]
        .filter(({ session }) => session.node === undefined)
        .reduce(
          (soFar, each) => PM.set(soFar, { ...each, outlived: new Set(each.outlived).add(id) }),
          sessions,
        )

/** Puts what a session leaves behind into the memory, as the latest. */
const leave = (
  memory: Map<string, NodeMemory>,
  session: Session,
  node: NodeIdentity,
  hasTwins: boolean,
): void => {
  const before = memory.get(node.id)
  const left = memoryOf(session, node)
  const isShared = left.isShared || before?.isShared === true || hasTwins
  memory.delete(node.id)
  memory.set(node.id, isShared ? unite(before ?? left, left) : left)
}

/** Forgets the nodes that were lost first, beyond `maxRemembered`, and counts them: not those that are connected. */
const forgetOldest = (state: FleetState): FleetState => {
  if (state.memory.size <= maxRemembered) return state
  const open = new Set([...PM.entries(state.sessions)].map(({ session }) => session.node?.id))
  const lost = [...state.memory.keys()].filter((id) => !open.has(id))
  const oldest = new Set(lost.slice(0, -maxRemembered))
  if (oldest.size === 0) return state
  const memory = new Map([...state.memory].filter(([id]) => !oldest.has(id)))
  return { ...state, memory, forgotten: state.forgotten + oldest.size }
}

/** What would be remembered of all nodes if every stream ended now. Costs O(nodes). */
export const rememberAll = (state: FleetState): NodeMemories => {
  const left = new Map(state.memory)
  const open = new Map<string, number>()
  const sessions = [...PM.entries(state.sessions)].flatMap(({ session }) =>
    session.node === undefined ? [] : [{ session, node: session.node }],
  )
  for (const { node } of sessions) open.set(node.id, (open.get(node.id) ?? 0) + 1)
  for (const { session, node } of sessions) leave(left, session, node, (open.get(node.id) ?? 0) > 1)
  const { memory, forgotten } = forgetOldest({ ...state, memory: left })
  return forgotten === 0 ? memory : Object.assign(new Map(memory), { forgotten })
}

const advance = (
  state: FleetState,
  stream: StreamId,
  event: SessionEvent,
  nowMs: number,
): FleetStep => {
  const found = PM.get(state.sessions, stream)
  if (found === undefined) return [state, []]
  const [session, effects] = stepSession(found.session, event, nowMs)
  const isBack = session.freshness === 'Held' && found.session.freshness !== 'Held'
  const returns = isBack ? state.returns + 1 : state.returns
  return [
    withSession({ ...state, returns }, stream, session),
    effects.map((effect) => ({ stream, effect })),
  ]
}

const advanceAll = (
  state: FleetState,
  event: SessionEvent,
  nowMs: number,
  isConcerned: (of: StreamSession) => boolean,
): FleetStep => {
  const effects: Array<FleetEffect> = []
  let next = state
  for (const each of PM.entries(state.sessions)) {
    if (!isConcerned(each)) continue
    const [advanced, more] = advance(next, each.name, event, nowMs)
    next = advanced
    for (const effect of more) effects.push(effect)
  }
  return [next, effects]
}

const none: ReadonlySet<string> = new Set()

const withSession = (state: FleetState, stream: StreamId, session: Session): FleetState => {
  const known = PM.get(state.sessions, stream)
  const before = known?.due
  const due = nextTimerOf(session)
  const outlived = known?.outlived ?? none
  const sessions = PM.set(state.sessions, { name: stream, session, due, outlived })
  // Only the one that was first of all can make the first time later.
  const isLater = before !== due && before !== undefined && before === state.due
  return { ...state, sessions, due: isLater ? earliest(sessions) : earlier(state.due, due) }
}
