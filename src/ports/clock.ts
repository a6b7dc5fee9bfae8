/** Time, for those who may know it: the host and the adapters. */
export interface Clock {
  /**
   * Milliseconds since the Unix epoch, by a clock that only goes forward: when somebody sets the
   * time of the machine, it goes on as before. Good for measuring how long something takes; dates
   * may be off by as much.
   */
  readonly nowMs: () => number
  /**
   * Calls back once after `delayMs`, unless the returned function is called before. Does not keep
   * the process alive.
   */
  readonly after: (delayMs: number, callback: () => void) => () => void
}

/**
 * The time of this machine. Its timers do not keep the process alive.
 *
 * @category host
 * @since 0.1.0
 */
export const systemClock: Clock = {
  nowMs: () => performance.timeOrigin + performance.now(),
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs)
    release(timer)
    return () => clearTimeout(timer)
  },
}

/** Only the timers of Node keep a process alive, and can be told not to. */
const release = (timer: { readonly unref?: () => unknown }): void => {
  timer.unref?.()
}

/** Resolves after `delayMs`, or at once when `signal` aborts. */
export const pause = (clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const done = (): void => {
      cancel()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const cancel = clock.after(delayMs, done)
    signal.addEventListener('abort', done)
  })
