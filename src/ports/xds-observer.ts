import type { XdsEvent } from '../core/xds/events.js'

export type { XdsEvent } from '../core/xds/events.js'

/** Is told of each event, in order. Must not throw, and must not wait. */
export type XdsObserver = (event: XdsEvent) => void
