/** Time, for what reads no clock by itself. */
export interface AlarmClock {
  /** Milliseconds, never going back. */
  readonly nowMs: () => number
  /** Calls back once after `delayMs`, unless the returned function is called before. */
  readonly after: (delayMs: number, callback: () => void) => () => void
}

/** One moment that is waited for. */
export interface Alarm {
  /** Waits for this time in place of the one before; `undefined` for none. One that has passed rings at once. */
  readonly set: (dueMs: number | undefined) => void
}

/**
 * Makes an alarm that waits for nothing yet. It rings once for each time that it is set to, never before that, and
 * may be set again by what it rings for. Setting it to the time that it waits for costs nothing.
 */
export const alarm = (clock: AlarmClock, ring: () => void): Alarm => {
  let timer: { readonly dueMs: number; readonly cancel: () => void } | undefined
  const wait = (dueMs: number): (() => void) =>
    clock.after(Math.max(0, Math.ceil(dueMs - clock.nowMs())), () => {
      timer = undefined
      ring()
    })
  return {
    set: (dueMs) => {
      if (dueMs === timer?.dueMs) return
      timer?.cancel()
      timer = dueMs === undefined ? undefined : { dueMs, cancel: wait(dueMs) }
    },
  }
}
