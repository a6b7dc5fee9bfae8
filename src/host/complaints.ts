import { showKey } from '../core/edge-route.js'
import { showFieldError } from '../core/field-error.js'
import { showVerdict } from '../core/status.js'
import type { Verdict } from '../core/verdict.js'
import type { SourceProblem } from '../ports/route-source.js'

/**
 * What is not as its author wants it: a message for each place in a source, and for each object.
 */
export type Complaints = ReadonlyMap<string, string>

export const noComplaints: Complaints = new Map()

/** All complaints of one state of the world. */
export const complaintsOf = (
  problems: ReadonlyArray<SourceProblem>,
  verdicts: Iterable<Verdict>,
): Complaints => {
  const complaints = new Map<string, string>()
  for (const problem of problems) complaints.set(problem.where, showProblem(problem))
  for (const verdict of verdicts)
    if (isComplaint(verdict)) complaints.set(showKey(verdict.key), showVerdict(verdict))
  return complaints
}

/** One line about something that could not be read. */
export const showProblem = ({ key, errors, keepsLastGood }: SourceProblem): string => {
  const named = key === undefined ? '' : `${showKey(key)}: `
  const kept = keepsLastGood ? ' (what was read there before is still served)' : ''
  return `${named}${errors.map(showFieldError).join('; ')}${kept}`
}

/** True unless every request that the author asked for reaches what he named. */
const isComplaint = ({ accepted, unresolved }: Verdict): boolean =>
  unresolved.length > 0 || (accepted._tag !== 'Accepted' && accepted._tag !== 'Terminating')

export interface ComplaintChanges {
  /** New ones, and those whose message is another one now. */
  readonly appeared: Complaints
  /** The places that give no cause any more. */
  readonly gone: ReadonlyArray<string>
}

/** What to tell a person who knows the previous complaints. */
export const changesOf = (previous: Complaints, next: Complaints): ComplaintChanges => ({
  appeared: new Map([...next].filter(([place, message]) => previous.get(place) !== message)),
  gone: [...previous.keys()].filter((place) => !next.has(place)),
})
