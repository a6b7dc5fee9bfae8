import { endpointChanges } from '../changes.mjs'
import { atMost } from '../judge.mjs'
import { changeCosts, comparedCpu, once, show, world } from '../lab.mjs'

const what = 'control plane CPU, one changed endpoint'

/** Only the endpoints of one backend change: nothing else is to be looked at, and nothing else is sent. */
export const endpointRows = ({ runs, sized }) => {
  const [small, middle, large] = [1_000, 10_000, 50_000].map((n) => world(sized(n), 'hosts'))
  const atMiddle = once(() =>
    changeCosts(
      [
        ['ours', middle],
        ['peer', middle],
      ],
      endpointChanges,
      runs,
    ),
  )
  const atLarge = once(() =>
    changeCosts(
      [
        ['ours', large],
        ['peer', large],
        ['ours', small],
      ],
      endpointChanges,
      runs,
    ),
  )
  return [
    {
      name: `${what}, ${show(middle.routes)} routes`,
      goal: atMost(1 / 50, 'of the Go peer'),
      measure: async () => {
        const [ours, peer] = await atMiddle()
        return comparedCpu(ours, peer, ['ours', 'peer'])
      },
    },
    {
      name: `${what}, ${show(large.routes)} routes`,
      goal: atMost(1 / 200, 'of the Go peer'),
      measure: async () => {
        const [ours, peer] = await atLarge()
        return comparedCpu(ours, peer, ['ours', 'peer'])
      },
    },
    {
      name: `${what}, ${show(large.routes)} routes against ${show(small.routes)}`,
      goal: atMost(2, 'times our own'),
      measure: async () => {
        const [ours, , oursAtSmall] = await atLarge()
        const names = [show(large.routes), show(small.routes)]
        return comparedCpu(ours, oursAtSmall, names)
      },
    },
  ]
}
