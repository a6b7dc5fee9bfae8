import { cutMessage, headOf } from '../core/cut-message.js'
import type { KeepingFact } from '../core/roster/keeping-state.js'
import type { Logger } from '../ports/logger.js'
import type { Metrics } from '../ports/metrics.js'

/** Something that people are told of the roster. */
export type RosterFact =
  | KeepingFact
  /** Nobody waits any more for this node. */
  | { readonly _tag: 'NodeForgotten'; readonly id: string; readonly by: ForgottenBy }
  /** The roster cannot be read, and is tried again. Told once for each message. */
  | { readonly _tag: 'LoadFailed'; readonly message: string }
  /** What has changed last is not written, and the control plane ends. */
  | { readonly _tag: 'LastSaveFailed'; readonly message: string }

/** What a node is forgotten by. */
export type ForgottenBy =
  /** A person has said so. */
  | 'Person'
  /** The Pod that it ran in is known to be gone. */
  | 'Pod'
  /** `forgetNodeAfterMs` has passed. */
  | 'Time'

/** Logs a fact, and counts it. */
export const reportRoster = ({ log }: Logger, metrics: Metrics, fact: RosterFact): void => {
  switch (fact._tag) {
    case 'NodeShared':
      metrics.add('edgewright_roster_shared_total', {}, 1)
      return log('warn', sharedId, { node: fact.id })
    case 'NodeRefused':
      metrics.add('edgewright_roster_refused_total', {}, 1)
      return log('error', refusedId, {
        node: headOf(fact.node.id, maxShownId),
        cluster: headOf(fact.node.cluster, maxShownId),
      })
    case 'NodeForgotten':
      metrics.add('edgewright_roster_forgotten_total', { by: fact.by.toLowerCase() }, 1)
      return log('warn', forgotten, { node: fact.id, by: fact.by.toLowerCase() })
    case 'LoadFailed':
      return log('error', unread, { error: cutMessage(fact.message) })
    case 'SaveFailed':
      metrics.add('edgewright_roster_save_failures_total', {}, 1)
      return log('error', unsaved, { error: cutMessage(fact.message) })
    case 'Superseded':
      metrics.add('edgewright_roster_save_failures_total', {}, 1)
      return log('error', superseded, { error: cutMessage(fact.message) })
    case 'FoundMissing':
      return log('error', 'the list of Envoys was taken away by somebody: writing it again')
    case 'LastSaveFailed':
      metrics.add('edgewright_roster_save_failures_total', {}, 1)
      return log('error', lastUnsaved, { error: cutMessage(fact.message) })
    case 'SavedAgain':
      return log('info', 'the list of Envoys is written down again')
  }
}

/** How much of an id is shown that is too long to be taken, in UTF-16 code units. */
const maxShownId = 64

const sharedId =
  'two Envoys have one node id, or one has come back before its end was noticed: both are waited for; ' +
  'give each its own id'
const refusedId =
  'the node id or cluster of the Envoy is too long to be written down, and it gets no routes'
const forgotten =
  'nobody waits for this Envoy any more; if it still runs, it may serve deleted routes'
const unread =
  'the list of Envoys cannot be read: nothing is served and no route is released until it can'
const unsaved =
  'the list of Envoys cannot be written: routes are served, but none is released until it can'
const superseded =
  'another control plane has the list of Envoys: routes are served, but this one releases none any more'
const lastUnsaved =
  'the list of Envoys could not be written at the end: the next start does not know of the last changes'
