/**
 * A request with this header waits for `delayMs` in the Envoy, between the choice of its route and the use of its
 * cluster.
 */
export const delayHeader = 'x-delay'
export const delayMs = 400
