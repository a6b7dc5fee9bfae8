/**
 * How often a lease is renewed, and looked at by who waits for it, in milliseconds: as rarely as crashes can be
 * told soon.
 */
export const renewEveryMs = 5_000

/** After how long others may take a lease that is not renewed, in milliseconds: two renewals may fail. */
export const leaseDurationMs = 15_000

/**
 * How long after a renewal was sent a lease counts as ours, in milliseconds. Others count `leaseDurationMs` from when
 * they see it, which is later: however slow or wrong their clocks are, nobody else has it as long as we say that we do.
 */
export const heldForMs = 10_000

/** When a request that has failed is tried again, in milliseconds. */
export const retryMs = 1_000

/**
 * The longest that a lease is left alone that is another's, because the server asks for it, in milliseconds: as long as
 * it lasts, so that one which has crashed is noticed not much later.
 */
export const maxRetryAfterMs = 15_000

/** How long the reply to a request may take, in milliseconds: a second try fits into what is left of `heldForMs`. */
export const requestDeadlineMs = 3_000

/** How long it may take to give a lease back, in milliseconds: whoever ends does not wait for an API server. */
export const releaseWaitMs = 2_000

/**
 * How long it counts that a lease was given back by one who knew all Envoys, in milliseconds: no longer than one that
 * cannot reach the lease waits before it may serve Envoys without it, and write them down nowhere.
 */
export const believedForMs = 30_000

/** How often a lease is looked at by who wants to know whether it is live, in milliseconds. */
export const observeEveryMs = 1_000

/** How long it is looked at, at most, in milliseconds: a lease may say that it lasts for years. */
export const maxObservedMs = 60_000
