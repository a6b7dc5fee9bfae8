import type { Fault } from '../core/xds/run-fleet.js'
import type { Logger } from './logger.js'

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

/** Logs what fails in a fleet, as an error. Throws if the logger does. */
export const logFault =
  (logger: Logger) =>
  (fault: Fault): void => {
    const error = String(fault.error)
    switch (fault._tag) {
      case 'StreamFailed':
        return logger.log('error', 'a stream failed', { stream: fault.stream, error })
      case 'ObserverThrew':
        return logger.log('error', 'an observer threw', { event: fault.event._tag, error })
      case 'PublishFailed':
        return logger.log('error', 'an observer published in vain', { error })
    }
  }
