import { showKey } from '../../core/edge-route.js'
import { showFieldError } from '../../core/field-error.js'
import { showVerdict } from '../../core/status.js'
import type { Verdict } from '../../core/verdict.js'
import type { SourceProblem } from '../../ports/route-source.js'

/** One line about something that could not be read. Of a judged name there is more to be said elsewhere. */
export const problemWords = (
  { key, errors, keepsLastGood }: SourceProblem,
  isJudged: (name: string) => boolean,
): string => {
  const name = key && showKey(key)
  const named = name === undefined ? '' : `${name}: `
  return `${named}${errors.map(showFieldError).join('; ')}${outcome(keepsLastGood, name, isJudged)}`
}

const outcome = (
  keepsLastGood: boolean,
  name: string | undefined,
  isJudged: (name: string) => boolean,
): string => {
  if (keepsLastGood) return ' (what was read there before is still served)'
  // The object has a verdict of its own, or is served as it stands elsewhere.
  if (name !== undefined && isJudged(name)) return ''
  return ' (no earlier state of it is known, so that nothing of it is served)'
}

/** The listener that Envoys refuse, so that nothing of the route is served there, and in which words. */
export const refusedListener = ({
  programmed,
}: Verdict): { readonly where: string; readonly message: string } | undefined => {
  if (programmed?._tag !== 'Refused' || programmed.listener === undefined) return undefined
  const { dataPlane, name } = programmed.listener
  const message = `refused by an Envoy: ${programmed.message}`
  return { where: `listener ${name} of ${dataPlane}`, message }
}

/**
 * What keeps requests that the author asked for from what he named; `undefined` if nothing does. That
 * Envoys are on their way is none; which of them refuse a route changes too often to be told each time.
 */
export const verdictWords = (verdict: Verdict): string | undefined => {
  const { accepted, unresolved } = verdict
  // One that has just come is served once it has our finalizer, a moment later.
  if (accepted._tag === 'Unguarded' && accepted.failure === undefined) return undefined
  const isServed = accepted._tag === 'Accepted' || accepted._tag === 'Terminating'
  const isAsAsked = isServed && unresolved.length === 0
  const { programmed, ...alone } = verdict
  const isRefused = programmed?._tag === 'Refused' && programmed.listener === undefined
  const words = [
    ...(isAsAsked ? [] : [showVerdict(alone)]),
    ...(isRefused ? [`refused by an Envoy: ${programmed.message}`] : []),
  ]
  return words.length === 0 ? undefined : words.join('; ')
}
