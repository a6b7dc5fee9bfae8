import { showKey } from '../core/edge-route.js'
import { showFieldError } from '../core/field-error.js'
import { showVerdict } from '../core/status.js'
import type { Verdict } from '../core/verdict.js'
import type { SourceProblem } from '../ports/route-source.js'

/** Something that is not as its author wants it. */
export interface Complaint {
  /** A place in a source that cannot be read, or an object that is not served as it stands there. */
  readonly about: 'source' | 'route'
  /** The place in words of the source, or the object's name. */
  readonly where: string
  readonly message: string
}

/**
 * Complaints by what they are about. A place may be called as an object is, and two objects may have
 * one name, so a key is the kind with the place or the uid.
 */
export type Complaints = ReadonlyMap<string, Complaint>

export const noComplaints: Complaints = new Map()

/** All complaints of one state of the world. */
export const complaintsOf = (
  problems: ReadonlyArray<SourceProblem>,
  verdicts: Iterable<Verdict>,
): Complaints => {
  const complaints = new Map<string, Complaint>()
  for (const problem of problems) {
    const key = `source:${problem.where}`
    const others = complaints.get(key)
    const messages = [...(others === undefined ? [] : [others.message]), showProblem(problem)]
    complaints.set(key, { about: 'source', where: problem.where, message: messages.join('; ') })
  }
  for (const verdict of verdicts) {
    const message = complaintOf(verdict)
    if (message === undefined) continue
    complaints.set(`route:${verdict.uid}`, { about: 'route', where: showKey(verdict.key), message })
  }
  return complaints
}

/** One line about something that could not be read. */
export const showProblem = ({ key, errors, keepsLastGood }: SourceProblem): string => {
  const named = key === undefined ? '' : `${showKey(key)}: `
  const kept = keepsLastGood ? ' (what was read there before is still served)' : ''
  return `${named}${errors.map(showFieldError).join('; ')}${kept}`
}

/**
 * What keeps requests that the author asked for from what he named; `undefined` if nothing does. That
 * Envoys are on their way is none; which of them refuse a route changes too often to be told each time.
 */
const complaintOf = ({ programmed, ...verdict }: Verdict): string | undefined => {
  const { accepted, unresolved } = verdict
  const isUnserved = accepted._tag !== 'Accepted' && accepted._tag !== 'Terminating'
  const words = [
    ...(isUnserved || unresolved.length > 0 ? [showVerdict(verdict)] : []),
    ...(programmed?._tag === 'Refused' ? [`refused by an Envoy: ${programmed.message}`] : []),
  ]
  return words.length === 0 ? undefined : words.join('; ')
}

export interface ComplaintChanges {
  /** New ones, and those whose message is another one now. */
  readonly appeared: ReadonlyArray<Complaint>
  /** Those that have no cause any more. */
  readonly gone: ReadonlyArray<Complaint>
}

/** What to tell a person who knows the previous complaints. */
export const changesOf = (previous: Complaints, next: Complaints): ComplaintChanges => ({
  appeared: [...next].flatMap(([key, complaint]) =>
    previous.get(key)?.message === complaint.message ? [] : [complaint],
  ),
  gone: [...previous].flatMap(([key, complaint]) => (next.has(key) ? [] : [complaint])),
})
