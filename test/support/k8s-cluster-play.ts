import fc from 'fast-check'
import { serviceWaitMs } from '../../src/adapters/k8s/cluster/backlog.js'
import { kubernetesSource } from '../../src/adapters/k8s/cluster-source.js'
import { virtualClock } from '../../src/adapters/memory/clock.js'
import type { SourceState } from '../../src/ports/route-source.js'
import { statusReply } from './k8s-fake-client.js'
import { type Fault, fakeCluster, type FakeCluster, type FakeKind } from './k8s-fake-cluster.js'

/** The kinds that routes name. */
type Backend = Exclude<FakeKind, 'edgeroutes'>

/** What goes wrong with Services or slices. */
interface Trouble {
  readonly of: Backend
  readonly how: 'denied' | 'broken' | 'silent'
  /** Of one namespace, or of all. */
  readonly where: string
}

export type Action =
  | { readonly _tag: 'put'; readonly of: FakeKind; readonly at: number; readonly content: number }
  | { readonly _tag: 'remove'; readonly of: FakeKind; readonly at: number }
  | { readonly _tag: 'trouble'; readonly trouble: Trouble }
  | { readonly _tag: 'heal' }
  | { readonly _tag: 'cut' | 'close' | 'freeze' | 'compact'; readonly of: FakeKind }
  | { readonly _tag: 'pass'; readonly ms: number }

export interface Plan {
  readonly actions: ReadonlyArray<Action>
  readonly isSplit: boolean
  readonly watchList: boolean
  readonly pageSize: number
  readonly entropy: number
}

const backend = fc.constantFrom<Backend>('services', 'endpointslices')
const of = fc.oneof({ weight: 3, arbitrary: fc.constant<FakeKind>('edgeroutes') }, backend)
const trouble = fc.record({
  of: backend,
  how: fc.constantFrom('denied' as const, 'broken' as const, 'silent' as const),
  where: fc.constantFrom('', '/lab/'),
})
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      _tag: fc.constant('put' as const),
      of,
      at: fc.nat(5),
      content: fc.nat(8),
    }),
  },
  { weight: 3, arbitrary: fc.record({ _tag: fc.constant('remove' as const), of, at: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ _tag: fc.constant('trouble' as const), trouble }) },
  { weight: 1, arbitrary: fc.record({ _tag: fc.constant('heal' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      _tag: fc.constantFrom(
        'cut' as const,
        'close' as const,
        'freeze' as const,
        'compact' as const,
      ),
      of,
    }),
  },
  { weight: 4, arbitrary: fc.record({ _tag: fc.constant('pass' as const), ms: fc.nat(9_000) }) },
)

export const plan: fc.Arbitrary<Plan> = fc.record({
  actions: fc.array(action, { maxLength: 40, size: 'max' }),
  isSplit: fc.boolean(),
  watchList: fc.boolean(),
  pageSize: fc.constantFrom(1, 500),
  entropy: fc.double({ min: 0, max: 0.99, noNaN: true }),
})

export const namespaces = ['lab', 'shop']

const names: Readonly<Record<FakeKind, ReadonlyArray<readonly [name: string, group: string]>>> = {
  edgeroutes: ['lab/r', 'lab/s', 'shop/r', 'shop/s', 'shop/t', 'shop/u'].map((name) => [name, '']),
  services: ['lab/a', 'lab/b', 'shop/a', 'shop/b', 'shop/c', 'shop/x'].map((name) => [name, name]),
  endpointslices: [
    ['lab/a-1', 'lab/a'],
    ['lab/b-1', 'lab/b'],
    ['shop/a-1', 'shop/a'],
    ['shop/a-2', 'shop/a'],
    ['shop/b-1', 'shop/b'],
    ['shop/c-1', 'shop/c'],
  ],
}

/** There from the beginning to the end, and always valid. */
export const lasting = { services: ['lab/a', 'shop/a'], endpointslices: ['lab/a-1', 'shop/a-1'] }

export interface Played {
  readonly cluster: FakeCluster
  readonly states: ReadonlyArray<SourceState>
  /** How many there were when all that was wrong had been waited out, and was wrong still. */
  readonly waitedOut: number
  /** Whether the routes themselves were disturbed. */
  readonly isRouteTrouble: boolean
}

/** Plays a source against a fake cluster, with all the faults of a plan; then everything goes well. */
export const play = async (each: Plan): Promise<Played> => {
  const clock = virtualClock(1_000)
  const cluster = fakeCluster(clock)
  for (const kind of ['services', 'endpointslices'] as const)
    for (const [name, group] of names[kind])
      if (lasting[kind].includes(name)) cluster.servers[kind].put(name, group, 1)
  const states: Array<SourceState> = []
  const stop = new AbortController()
  const { watchList, pageSize, entropy } = each
  const options = { clock, watchList, pageSize, random: () => entropy }
  const ended = kubernetesSource(cluster, {
    ...options,
    ...(each.isSplit && { namespaces }),
  }).watch((state) => states.push(state), stop.signal)()
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 3; i++) await new Promise(setImmediate)
    cluster.flush()
    await new Promise(setImmediate)
  }
  const pass = async (ms: number): Promise<void> => {
    for (let leftMs = ms; leftMs > 0; leftMs -= 1_000) {
      clock.advance(Math.min(1_000, leftMs))
      await settle()
    }
  }
  await settle()
  for (const next of each.actions) {
    if (next._tag === 'pass') await pass(next.ms)
    else act(cluster, next)
    await settle()
  }
  await pass(2 * serviceWaitMs)
  const waitedOut = states.length
  cluster.fault = () => undefined
  // A silence is found after a minute and a half, and some are found one after the other.
  await pass(300_000)
  stop.abort()
  await ended
  const isRouteTrouble = each.actions.some(
    (one) => one._tag !== 'put' && 'of' in one && one.of === 'edgeroutes' && one._tag !== 'remove',
  )
  return { cluster, states, waitedOut, isRouteTrouble }
}

const act = (cluster: FakeCluster, action: Exclude<Action, { readonly _tag: 'pass' }>): void => {
  switch (action._tag) {
    case 'put': {
      const [name = '', group = ''] = names[action.of][action.at] ?? []
      const content = isLasting(name) ? Math.max(1, action.content) : action.content
      return cluster.servers[action.of].put(name, group, content)
    }
    case 'remove': {
      const [name = ''] = names[action.of][action.at] ?? []
      if (!isLasting(name)) cluster.servers[action.of].remove(name)
      return
    }
    case 'trouble':
      return void (cluster.fault = faultOf(action.trouble))
    case 'heal':
      return void (cluster.fault = () => undefined)
    case 'compact':
      return cluster.servers[action.of].compact()
    case 'cut':
    case 'close':
    case 'freeze':
      return cluster.clients[action.of][action._tag]()
  }
}

const isLasting = (name: string): boolean =>
  lasting.services.includes(name) || lasting.endpointslices.includes(name)

const faultOf =
  ({ of: troubled, how, where }: Trouble): FakeCluster['fault'] =>
  (of, { path }): Fault => {
    if (of !== troubled || !path.includes(where)) return undefined
    switch (how) {
      case 'denied':
        return statusReply(403, 'forbidden')
      case 'broken':
        return statusReply(503, 'overloaded')
      case 'silent':
        return 'silent'
    }
  }
