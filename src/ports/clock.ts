/** Time, for those who may know it: the host and the adapters. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  readonly nowMs: () => number
  /**
   * Calls back once after `delayMs`, unless the returned function is called before. Does not keep the
   * process alive.
   */
  readonly after: (delayMs: number, callback: () => void) => () => void
}
