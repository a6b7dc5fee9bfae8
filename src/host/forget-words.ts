/** Why a node that is connected is not forgotten, for people. */
export const connectedRefusal: string =
  'it is connected: only what it says itself shows what it serves. ' +
  'End its process first, or wait for its answer'

/** What to know of one that was forgotten so soon after the start that it may have been about to come back. */
export const awaitedWarning = (startedMs: number, nowMs: number): string =>
  `this control plane began ${Math.floor((nowMs - startedMs) / 1_000)} s ago, and had not heard of it since: ` +
  'it may still serve, and be about to come back'

/** Why one that nobody knows is not forgotten. */
export const unknownRefusal: string = 'no node has this id'
