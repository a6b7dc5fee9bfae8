import type { VirtualClock } from '../../src/adapters/memory/index.js'

/** How many turns of the microtask queue a chain of promises between two timers takes, at most. */
const maxTurns = 200

/** Lets everything that waits for nothing but promises go on. */
export const settle = async (): Promise<void> => {
  for (let i = 0; i < maxTurns; i += 1) await Promise.resolve()
}

/** Lets time pass in small steps, with all that follows from each. */
export const passTime = async (clock: VirtualClock, ms: number, stepMs = 100): Promise<void> => {
  await settle()
  for (let passed = 0; passed < ms; passed += stepMs) {
    clock.advance(Math.min(stepMs, ms - passed))
    await settle()
  }
}
