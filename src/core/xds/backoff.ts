/** How long something waits until it is tried again: doubled each time, up to the most. */
export interface Backoff {
  readonly firstMs: number
  readonly mostMs: number
}

/** The wait behind so many failures in a row, one or more, in milliseconds. */
export const waitMs = ({ firstMs, mostMs }: Backoff, failures: number): number =>
  Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, 16))
