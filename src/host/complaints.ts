import { showKey } from '../core/edge-route.js'
import { showFieldError } from '../core/field-error.js'
import { showVerdict } from '../core/status.js'
import type { Verdict } from '../core/verdict.js'
import type { SourceProblem } from '../ports/route-source.js'

/** Something that is not as its author wants it. */
export interface Complaint {
  /**
   * A place in a source that cannot be read, an object that is not served as it stands there, or a listener
   * that an Envoy refuses.
   */
  readonly about: 'source' | 'route' | 'listener'
  /** The place in words of the source, the object's name, or the listener with its data plane. */
  readonly where: string
  readonly message: string
}

/**
 * Complaints by what they are about. A place may be called as an object is, and two objects may have
 * one name, so a key is the kind with the place or the uid.
 */
export type Complaints = ReadonlyMap<string, Complaint>

export const noComplaints: Complaints = new Map()

/** All complaints of one state of the world. A listener that is refused is one, however many routes it is to carry. */
export const complaintsOf = (
  problems: ReadonlyArray<SourceProblem>,
  verdicts: Iterable<Verdict>,
): Complaints => {
  const all = [...verdicts]
  const complaints = new Map<string, Complaint>()
  const judged = problems.length === 0 ? nobody : new Set(all.map(({ key }) => showKey(key)))
  for (const problem of problems) {
    const key = `source:${problem.where}`
    const others = complaints.get(key)
    const message = showProblem(problem, judged)
    const messages = [...(others === undefined ? [] : [others.message]), message]
    complaints.set(key, { about: 'source', where: problem.where, message: messages.join('; ') })
  }
  for (const verdict of all) {
    const refused = listenerComplaint(verdict)
    if (refused !== undefined) complaints.set(`listener:${refused.where}`, refused)
    const message = complaintOf(verdict)
    if (message === undefined) continue
    complaints.set(`route:${verdict.uid}`, { about: 'route', where: showKey(verdict.key), message })
  }
  return complaints
}

const nobody: ReadonlySet<string> = new Set()

/** One line about something that could not be read. `judged` are the names of which there is more to be said. */
const showProblem = (
  { key, errors, keepsLastGood }: SourceProblem,
  judged: ReadonlySet<string>,
): string => {
  const name = key && showKey(key)
  const named = name === undefined ? '' : `${name}: `
  return `${named}${errors.map(showFieldError).join('; ')}${outcome(keepsLastGood, name, judged)}`
}

const outcome = (
  keepsLastGood: boolean,
  name: string | undefined,
  judged: ReadonlySet<string>,
): string => {
  if (keepsLastGood) return ' (what was read there before is still served)'
  // The object has a verdict of its own, or is served as it stands elsewhere.
  if (name !== undefined && judged.has(name)) return ''
  return ' (no earlier state of it is known, so that nothing of it is served)'
}

const listenerComplaint = ({ programmed }: Verdict): Complaint | undefined => {
  if (programmed?._tag !== 'Refused' || programmed.listener === undefined) return undefined
  const { dataPlane, name } = programmed.listener
  const where = `listener ${name} of ${dataPlane}`
  return { about: 'listener', where, message: `refused by an Envoy: ${programmed.message}` }
}

/**
 * What keeps requests that the author asked for from what he named; `undefined` if nothing does. That
 * Envoys are on their way is none; which of them refuse a route changes too often to be told each time.
 */
const complaintOf = (verdict: Verdict): string | undefined => {
  const { accepted, unresolved } = verdict
  // One that has just come is served once it has our finalizer, a moment later.
  if (accepted._tag === 'Unguarded' && accepted.failure === undefined) return undefined
  const isServed = accepted._tag === 'Accepted' || accepted._tag === 'Terminating'
  const isAsAsked = isServed && unresolved.length === 0
  // That of most is, and all are asked whenever something is said of one.
  if (isAsAsked && verdict.programmed?._tag !== 'Refused') return undefined
  const { programmed, ...alone } = verdict
  const isRefused = programmed?._tag === 'Refused' && programmed.listener === undefined
  const words = [
    ...(isAsAsked ? [] : [showVerdict(alone)]),
    ...(isRefused ? [`refused by an Envoy: ${programmed.message}`] : []),
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
