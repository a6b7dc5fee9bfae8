import type { run } from '../test/simulation/run.js'
import type { planOf } from '../test/simulation/plan.js'
import type { Patch } from '../test/simulation/plants.js'

export declare const loadSimulation: (
  name?: string,
  patches?: ReadonlyArray<Patch>,
) => Promise<{ readonly run: typeof run; readonly planOf: typeof planOf }>
