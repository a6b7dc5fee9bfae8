import type { NotYet } from './deletion.js'
import * as PM from './persistent-map.js'
import type { Roster } from './roster.js'

/**
 * How long after a start Envoys are waited for, in milliseconds, if they do not all come sooner. An
 * Envoy that has lost its control plane tries again after 30 s at most, and takes as long to notice
 * one that died without a word.
 */
export const startWaitMs = 60_000

/**
 * What is known of other control planes that keep the same roster.
 *
 * | standing  | what the start gate does                                                    |
 * | --------- | --------------------------------------------------------------------------- |
 * | Alone     | opens as soon as every known node has come, or after the wait               |
 * | Successor | opens after the wait alone, which begins with the succession at the soonest |
 * | Unknown   | is closed, whatever it was before                                           |
 */
export type Standing =
  /** The roster names every Envoy that others have served: whoever kept it has ended, and wrote all of them down. */
  | { readonly _tag: 'Alone' }
  /**
   * Nobody else may serve for longer than it takes to see, from this time on, that this one does; who did before may
   * have taken in Envoys that are not on the roster.
   */
  | { readonly _tag: 'Successor'; readonly sinceMs: number }
  /** Another may be at work; the message says why that cannot be told. */
  | { readonly _tag: 'Unknown'; readonly message: string }

/**
 * Whether a control plane that has just started may believe that it knows the Envoys.
 *
 * Nothing may be released before the sources and the roster are read and, since the roster was read,
 * `waitMs` have passed or each node of the roster was heard from; where it has none, the whole wait
 * always passes. An id that several Envoys share was never heard from as a whole. What is known of
 * others is asked each time: see `Standing`.
 *
 * | event         | what it does                                                             |
 * | ------------- | ------------------------------------------------------------------------ |
 * | RosterFailed  | says why the roster is not read yet; once it is, nothing                 |
 * | RosterRead    | begins the wait, for the nodes of the roster; the first one counts       |
 * | SourcesRead   | is the other thing that is needed                                        |
 * | NodeHeard     | takes a node that is not shared off those that are waited for            |
 * | NodeForgotten | takes any node off                                                       |
 *
 * Every event may be repeated. Once the gate is open it stays open, as far as others let it.
 */
export interface StartGate {
  readonly waitMs: number
  readonly roster:
    | { readonly _tag: 'Unread'; readonly message: string }
    | { readonly _tag: 'Read'; readonly atMs: number }
  readonly areSourcesRead: boolean
  /** The nodes of the roster, without those that were forgotten since. */
  readonly known: PM.PersistentMap<KnownNode>
  /** How many of them were not heard from. */
  readonly silent: number
  /** That all of them were heard from, at some time. */
  readonly haveAllCome: boolean
}

interface KnownNode {
  readonly name: string
  readonly isShared: boolean
  readonly isHeard: boolean
}

export type StartEvent =
  | { readonly _tag: 'RosterFailed'; readonly message: string }
  | { readonly _tag: 'RosterRead'; readonly roster: Roster }
  | { readonly _tag: 'SourcesRead' }
  /** An Envoy has said who it is; `isShared` if the id had another connection at that time, or ever. */
  | { readonly _tag: 'NodeHeard'; readonly id: string; readonly isShared: boolean }
  | { readonly _tag: 'NodeForgotten'; readonly id: string }

/** A control plane that knows nothing yet. */
export const openStartGate = (waitMs: number = startWaitMs): StartGate => ({
  waitMs,
  roster: { _tag: 'Unread', message: 'the list of Envoys has not been read yet' },
  areSourcesRead: false,
  known: undefined,
  silent: 0,
  haveAllCome: false,
})

/** Costs O(log n) for a node, O(n log n) for the roster. */
export const stepStartGate = (gate: StartGate, event: StartEvent, nowMs: number): StartGate => {
  switch (event._tag) {
    case 'RosterFailed':
      return gate.roster._tag === 'Read'
        ? gate
        : { ...gate, roster: { _tag: 'Unread', message: event.message } }
    case 'RosterRead': {
      if (gate.roster._tag === 'Read') return gate
      const known = PM.fromEntries(
        [...event.roster.values()].map<KnownNode>(({ id, isShared }) => ({
          name: id,
          isShared,
          isHeard: false,
        })),
      )
      return { ...gate, roster: { _tag: 'Read', atMs: nowMs }, known, silent: PM.size(known) }
    }
    case 'SourcesRead':
      return gate.areSourcesRead ? gate : { ...gate, areSourcesRead: true }
    case 'NodeHeard':
    case 'NodeForgotten':
      return gate.haveAllCome ? gate : look(know(gate, event))
  }
}

type NodeEvent = Extract<StartEvent, { readonly _tag: `Node${string}` }>

const know = (gate: StartGate, event: NodeEvent): StartGate => {
  const node = PM.get(gate.known, event.id)
  if (node === undefined) return gate
  const wasSilent = node.isHeard ? 0 : 1
  if (event._tag === 'NodeForgotten')
    return { ...gate, known: PM.remove(gate.known, event.id), silent: gate.silent - wasSilent }
  const isShared = node.isShared || event.isShared
  const isHeard = !isShared
  if (isHeard === node.isHeard && isShared === node.isShared) return gate
  return {
    ...gate,
    known: PM.set(gate.known, { ...node, isShared, isHeard }),
    silent: gate.silent - wasSilent + (isHeard ? 0 : 1),
  }
}

const look = (gate: StartGate): StartGate =>
  gate.silent === 0 && PM.size(gate.known) > 0 ? { ...gate, haveAllCome: true } : gate

/** Why nothing may be released at this time; `undefined` if something may. */
export const gateOf = (gate: StartGate, standing: Standing, nowMs: number): NotYet | undefined => {
  const { roster, waitMs, haveAllCome, areSourcesRead } = gate
  if (roster._tag === 'Unread') return { _tag: 'RosterUnsaved', message: roster.message }
  switch (standing._tag) {
    case 'Unknown':
      return { _tag: 'NotHolding', message: standing.message }
    case 'Alone': {
      const untilMs = roster.atMs + waitMs
      const isOver = haveAllCome || nowMs >= untilMs
      return areSourcesRead && isOver ? undefined : { _tag: 'Starting', untilMs }
    }
    case 'Successor': {
      const untilMs = Math.max(roster.atMs, standing.sinceMs) + waitMs
      return areSourcesRead && nowMs >= untilMs ? undefined : { _tag: 'Starting', untilMs }
    }
  }
}

/**
 * Since when Envoys may come back that are not heard of yet, in milliseconds: since the roster was read. `undefined`
 * before that, and while the gate is open.
 */
export const waitingSince = (
  gate: StartGate,
  standing: Standing,
  nowMs: number,
): number | undefined =>
  gate.roster._tag === 'Read' && gateOf(gate, standing, nowMs) !== undefined
    ? gate.roster.atMs
    : undefined

/** When the gate opens by itself, in milliseconds; `undefined` if it is open, or waits for something else. */
export const nextGateTimer = (
  gate: StartGate,
  standing: Standing,
  nowMs: number,
): number | undefined => {
  const waits = gateOf(gate, standing, nowMs)
  return gate.areSourcesRead && waits?._tag === 'Starting' ? waits.untilMs : undefined
}
