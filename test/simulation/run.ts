import { act } from './act.js'
import { end } from './ending.js'
import type { Violation } from './laws.js'
import { type Plan, showStep } from './steps.js'
import type { Say } from './traffic.js'
import { makeWorld } from './world.js'

/** What came of a run. */
export interface Outcome {
  readonly violation: Violation | undefined
  /** How many of the steps were done before it. */
  readonly steps: number
}

/** Runs a plan to its end, or to the first violation. The same plan gives the same outcome. */
export const run = async ({ setup, steps }: Plan, say: Say = () => undefined): Promise<Outcome> => {
  const world = makeWorld(setup, say)
  const { judge } = world
  try {
    for (const [index, step] of steps.entries()) {
      say(showStep(step))
      await act(world, step)
      const violation = judge.violation()
      if (violation !== undefined) return { violation, steps: index + 1 }
    }
    say('the faults end')
    await end(world)
  } catch (error) {
    judge.accuse('NoFault', error instanceof Error ? (error.stack ?? error.message) : String(error))
  } finally {
    world.plane.crash()
  }
  return { violation: judge.violation(), steps: steps.length }
}
