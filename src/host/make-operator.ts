import type { NotYet } from '../core/deletion.js'
import { type DeletionRecord, recordsNamed } from '../core/deletions.js'
import { showKey } from '../core/edge-route.js'
import { cutMessage } from '../core/cut-message.js'
import { type Ledger, type LedgerNode, mayStillServe } from '../core/ledger.js'
import { compareStrings } from '../core/order.js'
import { holdsEveryTable, progressOf } from '../core/progress.js'
import { conditionsOf } from '../core/status.js'
import { showTypeUrl } from '../core/type-url.js'
import type { Clock } from '../ports/clock.js'
import type { LedgerSource } from '../ports/ledger-source.js'
import type { RouteStore } from '../ports/route-store.js'
import type { Activity } from './activity.js'
import { breakGlass } from './break-glass.js'
import type { Controller } from './controller.js'
import { awaitedWarning } from './forget-words.js'
import type { Explanation, ForgetResult, NodeRefusal, NodeReport, Operator } from './operator.js'
import type { ForgottenBy } from './report-roster.js'

/** What an operator looks into, and acts on. */
export interface OperatorPorts {
  readonly controller: Controller
  readonly ledger: LedgerSource
  readonly activity: Activity
  readonly clock: Clock
  /** Why nothing counts as proven at the moment, whatever the ledger says; `undefined` if something may. */
  readonly notYet: () => NotYet | undefined
  /** Since when Envoys may come back, in milliseconds; `undefined` if nobody waits for that any more. */
  readonly waitingSince: () => number | undefined
  /** Forgets a lost node, in the fleet and on the roster. */
  readonly forget: Operator['forget']
  /** Where finalizers are; absent for a source without any. */
  readonly store?: RouteStore
}

/** Answers a person out of what a controller knows at the moment. Costs O(objects + nodes) for each question. */
export const makeOperator = (ports: OperatorPorts): Operator => ({
  explain: (key) => {
    const ledger = ports.ledger.ledger()
    const heldUp = holdUps(ports, ledger)
    return recordsNamed(ports.controller.state().deletions, key).map((record) =>
      explain(ports, record, { ledger, heldUp }),
    )
  },
  nodes: () => {
    const ledger = ports.ledger.ledger()
    const heldUp = holdUps(ports, ledger)
    return ledger.nodes
      .map((node) => reportOf(ports, node, { ledger, heldUp }))
      .sort((a, b) => compareStrings(a.id, b.id))
  },
  forget: (id, by) => forget(ports, id, by),
  breakGlass: (key) => breakGlass(ports, key),
})

/** Nobody is kept from it: they may know that its process is gone. */
const forget = async (
  ports: OperatorPorts,
  id: string,
  by: ForgottenBy | undefined,
): Promise<ForgetResult> => {
  const sinceMs = ports.waitingSince()
  const isAwaited = ports.ledger
    .ledger()
    .nodes.some((node) => node.id === id && awaits(ports, node))
  const warning =
    isAwaited && sinceMs !== undefined ? awaitedWarning(sinceMs, ports.clock.nowMs()) : undefined
  const result = await ports.forget(id, by)
  return result === 'Forgotten' && warning !== undefined ? { warning } : result
}

/** Whether a node has not been heard of since the start, and may be about to come back. */
const awaits = (
  { activity, waitingSince }: OperatorPorts,
  { id, connected }: LedgerNode,
): boolean => !connected && activity.ofLost(id) === undefined && waitingSince() !== undefined

const explain = (ports: OperatorPorts, record: DeletionRecord, seen: Seen): Explanation => {
  const { verdicts, deletions, dated } = ports.controller.state()
  const { key, uid, state, object } = record
  const verdict = verdicts.get(uid)
  const previous = object?.conditions ?? dated.conditions.get(uid) ?? []
  const now = new Date(ports.clock.nowMs()).toISOString()
  return {
    key,
    uid,
    state,
    isStored: object !== undefined,
    conditions: verdict === undefined ? [] : conditionsOf(verdict, previous, now),
    owed: deletions.pending.has(uid)
      ? mayStillServe(seen.ledger, uid).map((node) => reportOf(ports, node, seen))
      : [],
  }
}

interface Seen {
  readonly ledger: Ledger
  readonly heldUp: HoldUps
}

type HoldUps = ReadonlyMap<LedgerNode, ReadonlyArray<string>>

const holdUps = ({ controller }: OperatorPorts, ledger: Ledger): HoldUps => {
  const { records, pending } = controller.state().deletions
  const all = new Map<LedgerNode, Array<string>>()
  for (const uid of pending) {
    const record = records.get(uid)
    if (record === undefined) continue
    for (const node of mayStillServe(ledger, uid)) {
      const names = all.get(node) ?? []
      all.set(node, names)
      names.push(showKey(record.key))
    }
  }
  return all
}

const reportOf = (ports: OperatorPorts, node: LedgerNode, { ledger, heldUp }: Seen): NodeReport => {
  const { id, dataPlane, connected, stream } = node
  const { activity } = ports
  const known = stream === undefined ? activity.ofLost(id) : activity.ofStream(stream)
  return {
    id,
    dataPlane,
    connected,
    isAwaited: awaits(ports, node),
    isShared: node.isShared,
    since: known?.since,
    lastSaid: known?.lastSaid,
    isUpToDate: isUpToDate(ledger, node),
    refusals: refusalsOfNone(node),
    holdsUp: [...(heldUp.get(node) ?? [])].sort(compareStrings),
  }
}

/** Who lacks a table is asked no more: what it is behind with would be all of that. */
const isUpToDate = (ledger: Ledger, node: LedgerNode): boolean =>
  node.connected && holdsEveryTable(ledger, node) && progressOf(ledger, node).isSynced

/** What a node refuses that stands for no route. */
const refusalsOfNone = ({ refusals }: LedgerNode): ReadonlyArray<NodeRefusal> =>
  refusals
    .filter(({ owners }) => owners.length === 0)
    .map(({ typeUrl, name, message }) => ({
      type: showTypeUrl(typeUrl),
      name,
      message: cutMessage(message),
    }))
