import type { Logger } from '../../ports/logger.js'
import type { XdsObserver } from '../../ports/xds-observer.js'

/** A logger that breaks nothing: what it throws is dropped, since there is nowhere to say it. */
export const guardedLogger = (logger: Logger): Logger => ({
  log: (level, message, fields) => {
    try {
      logger.log(level, message, fields)
    } catch {
      return
    }
  },
})

/** An observer that breaks nothing: what it throws is logged. */
export const guardedObserver =
  (observer: XdsObserver, logger: Logger): XdsObserver =>
  (event) => {
    try {
      observer(event)
    } catch (error) {
      logger.log('error', 'an observer threw', { event: event._tag, error: String(error) })
    }
  }
