import { compareStrings } from '../../../core/order.js'
import type { Logger } from '../../../ports/logger.js'
import type { SourceProblem } from '../../../ports/route-source.js'
import type { InformerTrouble } from '../informers/index.js'

/** How many Services are named that are not known, of those of one place. */
const maxNamed = 5

/** What to say of Services that did not become known in time, by the place in which they are. */
export const overdueProblems = (
  services: ReadonlyArray<string>,
  placeOf: (service: string) => string,
): ReadonlyArray<SourceProblem> => {
  const places = new Map<string, Array<string>>()
  for (const service of services) {
    const names = places.get(placeOf(service))
    if (names === undefined) places.set(placeOf(service), [service])
    else names.push(service)
  }
  return [...places].map(([where, names]) => ({
    where,
    key: undefined,
    errors: [{ path: '', message: words(names) }],
    keepsLastGood: false,
  }))
}

const words = (services: ReadonlyArray<string>): string => {
  const more = services.length - maxNamed
  const names = services.slice(0, maxNamed).join(', ')
  const all = more > 0 ? `${names} and ${more} more` : names
  return `the API server has not told yet of ${all}: requests to them are answered with 503`
}

/** In the order of their places, as a source tells them. */
export const sortProblems = (
  problems: ReadonlyArray<SourceProblem>,
): ReadonlyArray<SourceProblem> => [...problems].sort((a, b) => compareStrings(a.where, b.where))

/** Logs what keeps the first state from coming: nobody else can tell of it yet. */
export const logBackendTroubles = (
  logger: Logger,
  troubles: ReadonlyArray<InformerTrouble>,
): void => {
  for (const { where, message } of troubles)
    logger.log('warn', 'what routes name cannot be read yet', { where, error: message })
}
