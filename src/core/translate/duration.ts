import type { Duration } from '../../gen/google/protobuf/duration.js'

/** A `google.protobuf.Duration` of whole milliseconds. */
export const durationMs = (ms: number): Duration => ({
  seconds: BigInt(Math.floor(ms / 1000)),
  nanos: (ms % 1000) * 1_000_000,
})
