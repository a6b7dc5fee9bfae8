/** Does some work when its turn comes. */
export type Turns = <A>(work: () => A) => Promise<A>

/**
 * Does one piece of work at a time, and rests after each as long as it took: however many ask, half of
 * the thread is left to the Envoys. The queue is no longer than there are connections.
 */
export const inTurns = (nowMs: () => number): Turns => {
  let free: Promise<void> = Promise.resolve()
  return async (work) => {
    const turn = free
    let leave = (): void => undefined
    free = new Promise((resolve) => (leave = resolve))
    await turn
    const beganMs = nowMs()
    try {
      return work()
    } finally {
      setTimeout(leave, nowMs() - beganMs).unref()
    }
  }
}
