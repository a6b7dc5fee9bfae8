import { pathChanges } from './changes.mjs'
import { inProduction, oneTable } from './control-plane.mjs'
import { startServedEnvoy } from './envoy/edge.mjs'
import { startUpstream } from './envoy/processes.mjs'
import { changeCosts, sampleInTurn, withAll, world } from './lab.mjs'
import { inTurn } from './stats.mjs'

/**
 * What several rows are made of, and the plot: each is measured when it is first asked for, and never again.
 *
 * `pathCosts(n)`: what a changed path costs ours and the peer, among so many on a host each.
 * `envoyCosts(n)`: what it costs a real Envoy with one table, and one with the tables that it gets in production, and
 * how long it takes until they serve it.
 */
export const measurements = ({ runs }) => ({
  pathCosts: onceForEach((routes) => {
    const of = world(routes, 'hosts')
    const contenders = [
      ['ours', of],
      ['peer', of],
    ]
    return changeCosts(contenders, pathChanges, runs)
  }),
  envoyCosts: onceForEach((routes) =>
    withServedEnvoys(routes, async (envoys) => {
      const changes = await sampleInTurn(envoys, pathChanges, runs)
      const served = await inTurn(envoys, runs, ({ world, serveMs }, run) =>
        serveMs(pathChanges(run, world)),
      )
      const heaps = await Promise.all(envoys.map(({ heapBytes }) => heapBytes()))
      return envoys.map((_, i) => ({
        changes: changes[i],
        servedMs: served[i],
        heapBytes: heaps[i],
      }))
    }),
  ),
})

/** Two real Envoys with the same world before a real upstream: one with one table, one with those of production. */
export const withServedEnvoys = (routes, use) =>
  withAll(startUpstream, [[]], ([{ port }]) => {
    const of = { ...world(routes, 'hosts'), upstream: port }
    const both = [
      [of, oneTable],
      [of, inProduction],
    ]
    return withAll(startServedEnvoy, both, use)
  })

const onceForEach = (work) => {
  const results = new Map()
  return (subject) => {
    if (!results.has(subject)) results.set(subject, work(subject))
    return results.get(subject)
  }
}
