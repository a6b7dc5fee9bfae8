import { showFieldError } from '../../../core/field-error.js'
import type { Logger } from '../../../ports/logger.js'
import type { Change } from '../reflector/index.js'
import type { InformerTrouble } from './informer.js'
import { newWarnings, type SeenRoute } from './route-view.js'

/** How many objects are named whose fields are ignored, of those that come at once: each is a line in a log. */
const maxNamed = 20

/** Logs which fields are ignored since these changes. */
export const logWarnings = (logger: Logger, changes: ReadonlyArray<Change<SeenRoute>>): void => {
  const warned = changes.filter((change) => newWarnings(change).length > 0)
  for (const change of warned.slice(0, maxNamed)) {
    const fields = newWarnings(change).map(showFieldError).join('; ')
    logger.log('warn', 'unknown fields of a route are ignored', {
      where: change.object.name,
      fields,
    })
  }
  const more = warned.length - maxNamed
  if (more > 0) logger.log('warn', 'unknown fields of more routes are ignored', { routes: more })
}

/** Logs what keeps the first state from coming: nobody else can tell of it yet. */
export const logTroubles = (logger: Logger, troubles: ReadonlyArray<InformerTrouble>): void => {
  for (const { where, message } of troubles)
    logger.log('warn', 'routes cannot be read yet', { where, error: message })
}
