import { act } from './act.js'
import { end } from './ending.js'
import type { Violation } from './judge.js'
import type { Plan, Step } from './steps.js'
import { makeWorld, type World } from './world.js'

/** What came of a run. */
export interface Outcome {
  readonly violation: Violation | undefined
  /** How many of the steps were done before it. */
  readonly steps: number
}

/** Runs a plan to its end, or to the first violation. The same plan gives the same outcome. */
export const run = async (
  { setup, steps }: Plan,
  onStep: (step: Step, world: World) => void = () => undefined,
): Promise<Outcome> => {
  const world = makeWorld(setup)
  const { judge } = world
  try {
    for (const [index, step] of steps.entries()) {
      onStep(step, world)
      await act(world, step)
      const violation = judge.violation()
      if (violation !== undefined) return { violation, steps: index + 1 }
    }
    await end(world)
  } catch (error) {
    judge.accuse('NoFault', error instanceof Error ? (error.stack ?? error.message) : String(error))
  } finally {
    world.plane.crash()
  }
  return { violation: judge.violation(), steps: steps.length }
}
