import { changedEndpoint, changedPath } from '../changes.mjs'
import { atMost } from '../judge.mjs'
import { startContender } from '../contender.mjs'
import { show, withAll, world } from '../lab.mjs'
import { inTurn, median } from '../stats.mjs'

/** Many changes at once, of paths and endpoints by turns: what arrives together is to leave together. */
export const burstRows = ({ runs, sized }) => {
  const routes = sized(10_000)
  const count = sized(1_000)
  return [
    {
      name: `burst of ${show(count)} changes at once, ${show(routes)} routes`,
      goal: atMost(3, 'responses per type and stream'),
      measure: () =>
        withAll(startContender, [['ours', world(routes, 'hosts')]], async (running) => {
          const changes = () =>
            Array.from({ length: count }, (_, i) =>
              i % 2 === 0 ? changedPath(i) : changedEndpoint(i),
            )
          const [ours] = await inTurn(running, runs, ({ burst }) => burst(changes()))
          const most = ours.map((responses) => Math.max(...Object.values(responses)))
          const worst = Math.max(...most)
          return {
            value: worst,
            detail: `the most of ${runs} bursts; the median is ${median(most)}`,
          }
        }),
    },
  ]
}
