import type { InFlight, Watch } from './watch.js'

/** What came of a request: the watch as it is now, and the responses that were answered by it. */
export interface Noted {
  readonly watch: Watch
  readonly kind: 'Ack' | 'Nack' | 'Other'
  readonly answered: ReadonlyArray<InFlight>
}
