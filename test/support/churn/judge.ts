import { delayMs } from './delay.js'
import { type Answered, type Entry, kindOf } from './history.js'
import { type FormTimes, type Tenure, tenuresOf } from './tenures.js'

/** What no answer may show. */
export type Law =
  /** A route that was programmed, and was to stay, answered something else than 200. */
  | 'NotServed'
  /** An answer that is neither 200 nor 404, at any other time. */
  | 'Broken'
  /** 200, yet from a backend that no form of the route named which the Envoy could have. */
  | 'WrongBackend'
  /** 200 after the Envoy had ACKed that the route, or its prefix, is no more. */
  | 'StillServed'
  /** On one connection a prefix came back after it had gone. */
  | 'CameBack'

export const laws: ReadonlyArray<Law> = [
  'NotServed',
  'Broken',
  'WrongBackend',
  'StillServed',
  'CameBack',
]

export interface Violation {
  readonly law: Law
  readonly answer: Answered
}

/** What the answers of one Envoy came to. */
export interface Tally {
  readonly answers: number
  /** Answers that were to wait in the Envoy, and did. */
  readonly delayed: number
  /** Answers that had to be 200. */
  readonly owed: number
  /** Answers that had to be something else than 200. */
  readonly barred: number
  /** How often a prefix was seen to come or to go on one connection. */
  readonly flips: number
  /** By what they were, of all answers. */
  readonly kinds: ReadonlyMap<string, number>
  /** The forms that it was seen to have ACKed. */
  readonly programmedForms: number
}

export interface Judgement {
  readonly violations: ReadonlyArray<Violation>
  readonly tallies: ReadonlyMap<string, Tally>
  readonly publishedForms: number
}

/**
 * An ACK speaks for Envoy's main thread only: its workers follow within this time. A request that leaves
 * this long before a change is published has reached a worker by then.
 */
export const settleMs = 100

/** Says which answers of a history break a law. Costs O(n log n) in the number of its entries. */
export const judge = (entries: ReadonlyArray<Entry>): Judgement => {
  const tenures = tenuresOf(entries)
  const answers = entries.filter((entry) => entry._tag === 'Answered')
  const single = answers.flatMap((answer): ReadonlyArray<Violation> => {
    const law = lawBrokenBy(answer, tenures.get(answer.prefix))
    return law === undefined ? [] : [{ law, answer }]
  })
  const flips = flipsOf(answers)
  const double = flips
    .filter(({ isReturn }) => isReturn)
    .map(({ answer }): Violation => ({ law: 'CameBack', answer }))
  const forms = [...tenures.values()].flatMap((tenure) => tenure.forms)
  const tally = (envoy: string): Tally => {
    const own = answers.filter((answer) => answer.envoy === envoy)
    const count = (holds: (answer: Answered, tenure: Tenure | undefined) => boolean): number =>
      own.filter((answer) => holds(answer, tenures.get(answer.prefix))).length
    return {
      answers: own.length,
      delayed: count(({ delayed, sentMs, doneMs }) => delayed && doneMs - sentMs >= delayMs),
      owed: count(isOwed),
      barred: count(isBarred),
      flips: flips.filter(({ answer }) => answer.envoy === envoy).length,
      kinds: countBy(own, ({ outcome }) => kindOf(outcome)),
      programmedForms: forms.filter(({ programmedMs }) => programmedMs.has(envoy)).length,
    }
  }
  const envoys = [...new Set(answers.map(({ envoy }) => envoy))].sort()
  return {
    violations: [...single, ...double],
    tallies: new Map(envoys.map((envoy) => [envoy, tally(envoy)])),
    publishedForms: forms.length,
  }
}

const lawBrokenBy = (answer: Answered, tenure: Tenure | undefined): Law | undefined => {
  const kind = kindOf(answer.outcome)
  if (kind !== '200') {
    if (isOwed(answer, tenure)) return 'NotServed'
    return kind === '404' ? undefined : 'Broken'
  }
  if (isBarred(answer, tenure)) return 'StillServed'
  return isFromItsBackend(answer, tenure) ? undefined : 'WrongBackend'
}

const isOwed = (answer: Answered, tenure: Tenure | undefined): boolean => {
  const programmedMs = tenure?.programmedMs.get(answer.envoy)
  if (tenure === undefined || programmedMs === undefined) return false
  const stays = answer.doneMs <= tenure.endedMs || answer.sentMs + settleMs <= tenure.endedMs
  return answer.sentMs >= programmedMs + settleMs && stays
}

/** Also before the route was published, and where it never was. */
const isBarred = ({ envoy, sentMs, doneMs }: Answered, tenure: Tenure | undefined): boolean => {
  if (tenure === undefined || doneMs < tenure.publishedMs) return true
  const goneMs = tenure.goneMs.get(envoy)
  return goneMs !== undefined && sentMs >= goneMs + settleMs
}

const isFromItsBackend = (answer: Answered, tenure: Tenure | undefined): boolean => {
  const { outcome } = answer
  const backend = outcome._tag === 'Status' ? outcome.backend : undefined
  return (
    backend !== undefined &&
    (tenure?.forms ?? []).some((form) => mayStand(form, answer) && form.backends.includes(backend))
  )
}

const mayStand = (form: FormTimes, { envoy, sentMs, doneMs }: Answered): boolean => {
  const supersededMs = form.supersededMs.get(envoy) ?? Infinity
  return form.publishedMs <= doneMs && sentMs < supersededMs + settleMs
}

/** A prefix that came or went between two answers on one connection. */
interface Flip {
  /** The later of the two. */
  readonly answer: Answered
  /** It came, and had gone on this connection before. */
  readonly isReturn: boolean
}

/** Of each connection and prefix the answers of 200 and 404, in order; others are no flip. */
const flipsOf = (answers: ReadonlyArray<Answered>): ReadonlyArray<Flip> => {
  const flips: Array<Flip> = []
  const last = new Map<string, { readonly isUp: boolean; readonly hasGone: boolean }>()
  for (const answer of [...answers].sort((a, b) => a.sentMs - b.sentMs)) {
    const kind = kindOf(answer.outcome)
    if (kind !== '200' && kind !== '404') continue
    const key = `${answer.envoy} ${answer.connection} ${answer.prefix}`
    const isUp = kind === '200'
    const { isUp: wasUp, hasGone } = last.get(key) ?? { isUp, hasGone: false }
    if (isUp !== wasUp) flips.push({ answer, isReturn: isUp && hasGone })
    last.set(key, { isUp, hasGone: hasGone || (wasUp && !isUp) })
  }
  return flips
}

const countBy = <A>(items: Iterable<A>, kind: (item: A) => string): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(kind(item), (counts.get(kind(item)) ?? 0) + 1)
  return counts
}
