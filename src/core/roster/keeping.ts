import * as PM from '../persistent-map.js'
import { mayEnlist, type RosterEntry, rosterOf } from '../roster.js'
import type { NodeIdentity } from '../xds/messages.js'
import type { NodeMemory } from '../xds/node-memory.js'
import {
  isConnected,
  type Keeping,
  type KeepingEffect,
  type KeepingEvent,
  type KeepingFact,
  type KeepingStep,
  rosterIn,
} from './keeping-state.js'

/**
 * How long doubts are gathered, in milliseconds: the first is written at once, and what comes within this time
 * after it together. In a fleet that refuses something each Envoy has doubts, and each write has them all.
 */
export const doubtDelayMs = 1_000

/**
 * Advances by one event, at a time in milliseconds that never goes back.
 *
 * | event          | what it does                                                               |
 * | -------------- | -------------------------------------------------------------------------- |
 * | NodeIdentified | enlists the id, as shared if it has a stream; admits it if that is written |
 * | Nacked         | has the doubts read                                                        |
 * | Acked          | the same, if any of that node are written down                             |
 * | StreamClosed   | the same; one whose last stream it was waits no more; lost is it or a twin |
 * | MemoryRead     | takes the doubts over                                                      |
 * | NodeForgotten  | strikes it off; one that is connected is shared no more, if it is alone    |
 * | SaveSucceeded  | admits those that it has                                                   |
 * | SaveFailed     | admits all, and tries again later                                          |
 * | FoundMissing   | writes it again, unless a write is out; it is not safe until then          |
 * | SaveIsSlow     | admits all                                                                 |
 *
 * Whatever has changed is written as soon as no write is out. Costs O(log n), a write O(n).
 */
export const stepKeeping = (state: Keeping, event: KeepingEvent, nowMs: number): KeepingStep => {
  const [changed, effects] = receive(state, event, nowMs)
  const [next, more] = write(changed, nowMs)
  return [next, [...effects, ...more]]
}

const receive = (state: Keeping, event: KeepingEvent, nowMs: number): KeepingStep => {
  switch (event._tag) {
    case 'NodeIdentified':
      return identify(state, event.stream, event.node, nowMs)
    case 'Nacked':
      return [readSoon(state, nowMs), []]
    case 'Acked':
      return [hasDoubts(state, event.stream) ? readSoon(state, nowMs) : state, []]
    case 'StreamClosed':
      return close(state, event.stream, nowMs)
    case 'MemoryRead':
      return takeOver(state, event.memory, nowMs)
    case 'NodeForgotten':
      return isConnected(state, event.id) ? keepOne(state, event.id) : [strike(state, event.id), []]
    case 'SaveSucceeded':
      return succeed(state)
    case 'SaveFailed':
      return state.saving === undefined
        ? [state, []]
        : fail({ ...state, saving: undefined, retryAtMs: event.retryAtMs }, event)
    case 'SaveIsSlow':
      return state.saving === undefined ? [state, []] : fail(state, event)
    case 'FoundMissing':
      return state.saving === undefined && state.saved === state.changes
        ? [{ ...state, changes: state.changes + 1, failure: missing }, [tell(event)]]
        : [state, []]
    case 'SaveWanted':
      return [{ ...state, retryAtMs: undefined }, []]
    case 'TimePassed':
      return state.readAtMs !== undefined && state.readAtMs <= nowMs
        ? [{ ...state, readAtMs: undefined, lastReadMs: nowMs }, [{ _tag: 'ReadMemory' }]]
        : [state, []]
  }
}

const identify = (
  state: Keeping,
  stream: string,
  node: NodeIdentity,
  nowMs: number,
): KeepingStep => {
  if (PM.get(state.streams, stream) !== undefined) return [state, []]
  if (!mayEnlist(node)) return [state, [tell({ _tag: 'NodeRefused', node })]]
  const { id, cluster } = node
  const page = PM.get(state.pages, id)
  const count = PM.get(state.connections, id)?.count ?? 0
  const entry: RosterEntry = {
    ...(page?.entry ?? { id, sinceMs: nowMs, isShared: false, doubts: {} }),
    cluster,
    ...(count > 0 ? { isShared: true } : {}),
  }
  const connected: Keeping = {
    ...state,
    streams: PM.set(state.streams, { name: stream, id }),
    connections: PM.set(state.connections, { name: id, count: count + 1 }),
  }
  const isSame = page?.entry.cluster === cluster && page.entry.isShared === entry.isShared
  const [next, effects] = isSame ? [connected, []] : enlist(connected, [entry])
  const [admitted, more] = admit(next, id)
  const heard: KeepingEffect = { _tag: 'Heard', id, isShared: entry.isShared }
  return [admitted, [...effects, heard, ...more]]
}

/** Puts entries on the roster, or in the place of what is there. */
const enlist = (state: Keeping, entries: ReadonlyArray<RosterEntry>): KeepingStep => {
  const change = state.changes + 1
  const effects: Array<KeepingEffect> = []
  let { pages } = state
  for (const entry of entries) {
    const before = PM.get(pages, entry.id)
    const isShared = entry.isShared && before?.entry.isShared !== true
    if (isShared) effects.push(tell({ _tag: 'NodeShared', id: entry.id }))
    pages = PM.set(pages, {
      name: entry.id,
      entry,
      change: before === undefined || isShared ? change : before.change,
    })
  }
  return [{ ...state, pages, changes: change }, effects]
}

/** Where nothing can be written it is admitted all the same: an Envoy without routes is an outage. */
const admit = (state: Keeping, id: string): KeepingStep => {
  const change = PM.get(state.pages, id)?.change ?? 0
  if (change > state.saved && !state.isFailing)
    return [{ ...state, waiting: PM.set(state.waiting, { name: id }) }, []]
  return [
    {
      ...state,
      waiting: PM.remove(state.waiting, id),
      admittedAhead: Math.max(state.admittedAhead, change),
    },
    [{ _tag: 'Admit', id }],
  ]
}

const admitWaiting = (state: Keeping): KeepingStep => {
  const effects: Array<KeepingEffect> = []
  let next = state
  for (const { name } of PM.entries(state.waiting)) {
    const [admitted, more] = admit(next, name)
    next = admitted
    for (const effect of more) effects.push(effect)
  }
  return [next, effects]
}

const close = (state: Keeping, stream: string, nowMs: number): KeepingStep => {
  const id = PM.get(state.streams, stream)?.id
  if (id === undefined) return [state, []]
  const left = (PM.get(state.connections, id)?.count ?? 0) - 1
  const closed = readSoon({ ...state, streams: PM.remove(state.streams, stream) }, nowMs)
  const lost: KeepingEffect = { _tag: 'Lost', id }
  if (left > 0)
    return [
      { ...closed, connections: PM.set(state.connections, { name: id, count: left }) },
      [lost],
    ]
  const { connections, waiting } = state
  return [
    { ...closed, connections: PM.remove(connections, id), waiting: PM.remove(waiting, id) },
    [lost],
  ]
}

const hasDoubts = ({ streams, pages }: Keeping, stream: string): boolean => {
  const id = PM.get(streams, stream)?.id
  const doubts = id === undefined ? undefined : PM.get(pages, id)?.entry.doubts
  return doubts !== undefined && Object.keys(doubts).length > 0
}

const readSoon = (state: Keeping, nowMs: number): Keeping => ({
  ...state,
  readAtMs: state.readAtMs ?? Math.max(nowMs, (state.lastReadMs ?? -Infinity) + doubtDelayMs),
})

const takeOver = (
  state: Keeping,
  memory: ReadonlyMap<string, NodeMemory>,
  nowMs: number,
): KeepingStep => {
  const before = rosterIn(state)
  const after = rosterOf(memory, before, nowMs)
  if (after === before) return [state, []]
  return enlist(
    state,
    [...after.values()].filter((entry) => before.get(entry.id) !== entry),
  )
}

const strike = (state: Keeping, id: string): Keeping =>
  PM.get(state.pages, id) === undefined
    ? state
    : { ...state, pages: PM.remove(state.pages, id), changes: state.changes + 1 }

/** What its twins left behind is forgotten: the only one that is connected speaks for itself again. */
const keepOne = (state: Keeping, id: string): KeepingStep => {
  const entry = PM.get(state.pages, id)?.entry
  const count = PM.get(state.connections, id)?.count ?? 0
  return entry?.isShared === true && count === 1
    ? enlist(state, [{ ...entry, isShared: false }])
    : [state, []]
}

const succeed = (state: Keeping): KeepingStep => {
  if (state.saving === undefined) return [state, []]
  const isSafe = state.admittedAhead <= state.saving
  const saved: Keeping = {
    ...state,
    saved: state.saving,
    saving: undefined,
    isFailing: false,
    failure: isSafe ? undefined : state.failure,
    failures: 0,
    retryAtMs: undefined,
  }
  const [next, effects] = admitWaiting(saved)
  const wasTold = state.saved > 0 || state.failures > 0
  const isHealed = isSafe && wasTold && state.failure !== undefined
  return [next, isHealed ? [...effects, tell({ _tag: 'SavedAgain' })] : effects]
}

const missing = 'the list of Envoys was taken away, and is being written again'

interface Failure {
  readonly message: string
  readonly isSuperseded?: boolean
}

const fail = (state: Keeping, { message, isSuperseded = false }: Failure): KeepingStep => {
  const failing: Keeping = {
    ...state,
    isFailing: true,
    failure: message,
    failures: state.failures + 1,
  }
  const [next, effects] = admitWaiting(failing)
  const isKnown = state.failure === message
  const fact = tell({ _tag: isSuperseded ? 'Superseded' : 'SaveFailed', message })
  return [next, isKnown ? effects : [fact, ...effects]]
}

const write = (state: Keeping, nowMs: number): KeepingStep => {
  if (state.saving !== undefined || state.saved === state.changes) return [state, []]
  if (state.retryAtMs !== undefined && nowMs < state.retryAtMs) return [state, []]
  return [{ ...state, saving: state.changes }, [{ _tag: 'Save', roster: rosterIn(state) }]]
}

const tell = (fact: KeepingFact): KeepingEffect => ({ _tag: 'Tell', fact })
