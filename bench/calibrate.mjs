import { pathChanges } from './changes.mjs'
import { changeCosts, show } from './lab.mjs'
import { median, pick } from './stats.mjs'

/** What a changed route has cost such a program with a cluster for each route, in milliseconds of CPU by routes. */
const expected = { 1_000: 8, 10_000: 108, 50_000: 640 }

/** Shows what the Go peer costs with a backend for each route: one that is much slower than this is no peer. */
export const calibrate = async () => {
  for (const [routes, ms] of Object.entries(expected)) {
    const world = { routes: Number(routes), form: 'prefixes', backends: 0 }
    const [samples] = await changeCosts([['peer', world]], pathChanges, 15)
    const taken = median(pick(samples, 'wireUs')) / 1_000
    console.log(
      `${show(world.routes)} routes: ${taken.toFixed(1)} ms a change; about ${ms} expected`,
    )
  }
}
