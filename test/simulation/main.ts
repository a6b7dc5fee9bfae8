/** What a runner needs of the simulation. */
export { planOf } from './plan.js'
export { run } from './run.js'
export { shrink } from './shrink.js'
export { showStep } from './steps.js'
export { plants } from './plants.js'
export { seeds } from './seeds.js'
