import { changedEndpoint, changedPath } from '../changes.mjs'
import { startContender } from '../contender.mjs'
import { atMost } from '../judge.mjs'
import { show, withAll, world } from '../lab.mjs'
import { inTurn, median } from '../stats.mjs'

/** Many changes at once, of paths and endpoints by turns: what arrives together is to leave together. */
export const burstRows = ({ runs, sized }) => {
  const routes = sized(10_000)
  const count = sized(1_000)
  const changes = () =>
    Array.from({ length: count }, (_, i) => (i % 2 === 0 ? changedPath(i) : changedEndpoint(i)))
  const row = (variant, kind) => ({
    name: `burst of ${show(count)} changes at once, ${show(routes)} routes, ${kind}`,
    goal: atMost(3, 'responses per type and stream'),
    measure: () =>
      withAll(startContender, [['ours', world(routes, 'hosts'), { variant }]], async (running) => {
        const [ours] = await inTurn(running, runs, ({ burst }) => burst(changes()))
        const most = ours.map((responses) => Math.max(...Object.values(responses)))
        return {
          value: Math.max(...most),
          detail: `the most of ${runs} bursts; the median is ${median(most)}`,
        }
      }),
  })
  return [row('delta', 'delta'), row('sotw', 'SotW')]
}
