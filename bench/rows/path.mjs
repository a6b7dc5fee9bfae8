import { pathChanges } from '../changes.mjs'
import { atMost } from '../judge.mjs'
import { changeCosts, comparedCpu, show, world } from '../lab.mjs'

const what = 'control plane CPU, one changed path'

/** One route takes another path: its table is another one, whatever that is made of. */
export const pathRows = ({ runs, sized }) => {
  const routes = sized(10_000)
  const row = (form, place, limit) => ({
    name: `${what}, ${show(routes)} ${place}`,
    goal: atMost(limit, 'of the Go peer'),
    measure: async () => {
      const of = world(routes, form)
      const contenders = [
        ['ours', of],
        ['peer', of],
      ]
      const [ours, peer] = await changeCosts(contenders, pathChanges, runs)
      return comparedCpu(ours, peer, ['ours', 'peer'])
    },
  })
  return [row('hosts', 'hosts', 1 / 50), row('prefixes', 'prefixes on one host', 1 / 5)]
}
