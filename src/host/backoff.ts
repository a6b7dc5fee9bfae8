/** The first pause: long enough for a directory that is being replaced to be there again. */
export const firstBackoffMs = 200
/** The longest pause: what fails for hours is tried twice a minute, and found healed that soon. */
export const maxBackoffMs = 30_000

/**
 * How long to wait before the given try, where 1 is the first one that follows a failure: doubled
 * each time up to `maxBackoffMs`, and of that a random part between one half and the whole, so that
 * replicas which failed together do not come back together. `random` is in [0, 1).
 */
export const backoffMs = (attempt: number, random: number): number =>
  Math.min(maxBackoffMs, firstBackoffMs * 2 ** (attempt - 1)) * (0.5 + random / 2)

/** The same for one who is asked to come back no sooner than in `askedMs`: that long, within the same bound. */
export const askedBackoffMs = (attempt: number, random: number, askedMs = 0): number =>
  Math.max(backoffMs(attempt, random), Math.min(askedMs, maxBackoffMs))
