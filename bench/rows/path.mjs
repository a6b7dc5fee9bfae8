import { pathChanges } from '../changes.mjs'
import { atMost } from '../judge.mjs'
import { changeCosts, comparedCpu, show, world } from '../lab.mjs'

const what = 'control plane CPU, one changed path'

/** One route takes another path: its table is another one, whatever that is made of. */
export const pathRows = ({ runs, sized, pathCosts }) => {
  const routes = sized(10_000)
  return [
    {
      name: `${what}, ${show(routes)} hosts`,
      goal: atMost(1 / 50, 'of the Go peer'),
      measure: async () => {
        const [ours, peer] = await pathCosts(routes)
        return comparedCpu(ours, peer, ['ours', 'peer'])
      },
    },
    {
      name: `${what}, ${show(routes)} prefixes on one host`,
      goal: atMost(1 / 5, 'of the Go peer'),
      measure: async () => {
        const of = world(routes, 'prefixes')
        const contenders = [
          ['ours', of],
          ['peer', of],
        ]
        const [ours, peer] = await changeCosts(contenders, pathChanges, runs)
        return comparedCpu(ours, peer, ['ours', 'peer'])
      },
    },
  ]
}
