import { type DeletionFact, type NotYet } from '../../../core/deletion.js'
import type { RecordedFact } from '../../../core/deletions.js'
import { apiVersion, kind } from '../../../core/edge-route.js'
import type { NamedNodes } from '../../../core/programmed/statement.js'
import { showNodes, showNotYet } from '../../../core/status.js'
import type { ForgottenBy, RosterFact } from '../../report-roster.js'
import type { ClusterEvent } from '../peers.js'

/** What people who look at a cluster are told of a deletion, if anything. */
export const eventOfDeletion = ({ record, fact }: RecordedFact): ClusterEvent | undefined => {
  const words = wordsOfDeletion(fact)
  if (words === undefined) return undefined
  const { key, uid } = record
  return { regarding: { apiVersion, kind, ...key, uid }, action: 'Deprogramming', ...words }
}

type Words = Pick<ClusterEvent, 'type' | 'reason' | 'note'>

const wordsOfDeletion = (fact: DeletionFact): Words | undefined => {
  switch (fact._tag) {
    // The object itself says so; and in a cluster no deletion is ever called off.
    case 'Withdrawn':
    case 'CalledOff':
      return undefined
    case 'Overdue':
      return { type: 'Warning', reason: 'DeletionWaiting', note: showNotYet(fact.waitsFor) }
    case 'Proven':
      return { type: 'Normal', reason: 'Deprogrammed', note: goneWords(fact.forgotten) }
    case 'GlassBroken':
      return { type: 'Warning', reason: 'GlassBroken', note: glassWords(fact.waitedFor) }
  }
}

const goneWords = (forgotten: NamedNodes | undefined): string =>
  forgotten === undefined
    ? 'gone from every Envoy'
    : 'gone from every Envoy that was not forgotten; ' +
      `these were, before they confirmed, and may serve it if they still run: ${showNodes(forgotten)}`

const glassWords = (waitedFor: NotYet): string =>
  `gone before it was proven that no Envoy serves it: ${showNotYet(waitedFor)}`

/** What they are told of the list of Envoys, if anything; it regards the object that keeps the list. */
export const eventOfRoster = (
  fact: RosterFact,
  roster: ClusterEvent['regarding'],
): ClusterEvent | undefined =>
  fact._tag === 'NodeForgotten'
    ? {
        regarding: roster,
        type: 'Warning',
        reason: 'NodeForgotten',
        action: 'Forgetting',
        note: forgottenNote(fact.id, fact.by),
      }
    : undefined

const forgottenNote = (id: string, by: ForgottenBy): string =>
  `nobody waits for the Envoy ${id} any more: ${forgottenWords[by]}; ` +
  'if it still runs, it may serve deleted routes'

const forgottenWords: Readonly<Record<ForgottenBy, string>> = {
  Person: 'a person has said that it is gone',
  Pod: 'its Pod is gone',
  Time: 'it has been lost for as long as --forget-node-after says',
}
