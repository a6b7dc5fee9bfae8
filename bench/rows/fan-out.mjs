import { pathChanges } from '../changes.mjs'
import { atMost } from '../judge.mjs'
import { changeCosts, comparedCpu, show, world } from '../lab.mjs'

/** One changed route on its way to many Envoys. */
export const fanOutRows = ({ runs, sized }) => {
  const routes = sized(10_000)
  const streams = sized(200)
  const row = (variant, kind) => ({
    name: `fan-out of one changed route to ${streams} ${kind}, ${show(routes)} routes, CPU`,
    goal: atMost(1 / 10, 'of the Go peer'),
    measure: async () => {
      const of = world(routes, 'hosts')
      const contenders = [
        ['ours', of, { streams, variant }],
        ['peer', of, { streams, variant }],
      ]
      const [ours, peer] = await changeCosts(contenders, pathChanges, runs)
      return comparedCpu(ours, peer, ['ours', 'peer'])
    },
  })
  return [row('delta', 'streams'), row('sotw', 'SotW streams')]
}
