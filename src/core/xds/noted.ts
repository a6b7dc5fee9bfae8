import type { Watch } from './watch.js'

/** What came of a request: the watch as it is now, and whether a response was answered by it. */
export interface Noted {
  readonly watch: Watch
  readonly kind: 'Ack' | 'Nack' | 'Other'
}
