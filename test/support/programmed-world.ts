import fc from 'fast-check'
import { lagGraceMs } from '../../src/core/programmed.js'
import type { Forms, Listens, NodeOptions } from './ledger-nodes.js'

export type Command =
  /** Adds a route, or changes it. */
  | { readonly _tag: 'Change'; readonly name: string }
  | { readonly _tag: 'Remove'; readonly name: string }
  /** An Envoy opens a stream: with what it had accepted before, or as a new process. */
  | { readonly _tag: 'Join'; readonly id: string; readonly remembers: boolean }
  | { readonly _tag: 'Lose'; readonly id: string }
  /** It takes the present table, with these routes in their present form. */
  | { readonly _tag: 'Accept'; readonly id: string; readonly names: ReadonlyArray<string> }
  | { readonly _tag: 'Refuse'; readonly id: string; readonly name: string }
  /** It takes the present form of its listener, or refuses it. */
  | { readonly _tag: 'Bind'; readonly id: string; readonly isTaken: boolean }
  | { readonly _tag: 'Pass'; readonly ms: number }

const names = ['a', 'b'] as const
const name = fc.constantFrom(...names)
const id = fc.constantFrom('x', 'y')
const some = fc.oneof(fc.constant(names), fc.subarray([...names]))
const ms = fc.constantFrom(1, lagGraceMs / 2, lagGraceMs - 1, lagGraceMs)

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ _tag: fc.constant('Change' as const), name }) },
  { weight: 1, arbitrary: fc.record({ _tag: fc.constant('Remove' as const), name }) },
  {
    weight: 2,
    arbitrary: fc.record({ _tag: fc.constant('Join' as const), id, remembers: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ _tag: fc.constant('Lose' as const), id }) },
  { weight: 6, arbitrary: fc.record({ _tag: fc.constant('Accept' as const), id, names: some }) },
  { weight: 1, arbitrary: fc.record({ _tag: fc.constant('Refuse' as const), id, name }) },
  {
    weight: 4,
    arbitrary: fc.record({ _tag: fc.constant('Bind' as const), id, isTaken: fc.boolean() }),
  },
  { weight: 4, arbitrary: fc.record({ _tag: fc.constant('Pass' as const), ms }) },
)

export const commands: fc.Arbitrary<ReadonlyArray<Command>> = fc.array(command, {
  minLength: 5,
  maxLength: 60,
  size: 'max',
})

/** An Envoy, and what is to be expected of it: kept in the plainest way. */
export interface ModelEnvoy {
  readonly id: string
  readonly stream: string | undefined
  /** The table that it has accepted, by generation; `undefined` if it has accepted none. */
  readonly holds: ReadonlyMap<string, number> | undefined
  readonly refuses: ReadonlySet<string>
  readonly listens: Listens
  /** What it had not accepted when it was seen first on this stream, and has not since. */
  readonly owes: ReadonlySet<string>
  readonly wasSeen: boolean
  readonly isSynced: boolean
  /** Since when it has not accepted the present form, as one that is synced. */
  readonly since: ReadonlyMap<string, number>
}

export interface ModelWorld {
  readonly nowMs: number
  readonly streams: number
  /** The routes that are served, by generation. */
  readonly routes: ReadonlyMap<string, number>
  /** The last generation that each route had, those that are gone included. */
  readonly generations: ReadonlyMap<string, number>
  readonly envoys: ReadonlyMap<string, ModelEnvoy>
}

export const emptyWorld: ModelWorld = {
  nowMs: 0,
  streams: 0,
  routes: new Map(),
  generations: new Map(),
  envoys: new Map(),
}

export const isBehind = ({ routes }: ModelWorld, { holds }: ModelEnvoy, of: string): boolean =>
  routes.has(of) && holds?.get(of) !== routes.get(of)

/** Nothing is served where its listener would be. */
export const isClosed = ({ listens }: ModelEnvoy): boolean =>
  listens.refuses !== undefined && !listens.isAccepted

export const connectedIn = ({ envoys }: ModelWorld): ReadonlyArray<ModelEnvoy> =>
  [...envoys.values()].filter(({ stream }) => stream !== undefined)

/** The next world, as it is seen at that moment. */
export const stepWorld = (world: ModelWorld, of: Command): ModelWorld => {
  const next = apply(world, of)
  const seen = [...next.envoys].map(([key, envoy]) => [key, note(next, envoy)] as const)
  return { ...next, envoys: new Map(seen) }
}

const apply = (world: ModelWorld, of: Command): ModelWorld => {
  const envoy = 'id' in of ? world.envoys.get(of.id) : undefined
  const put = (changed: ModelEnvoy): ModelWorld => ({
    ...world,
    envoys: new Map(world.envoys).set(changed.id, changed),
  })
  switch (of._tag) {
    case 'Change': {
      const generation = (world.generations.get(of.name) ?? 0) + 1
      const generations = new Map(world.generations).set(of.name, generation)
      const routes = new Map(world.routes).set(of.name, generation)
      return { ...world, generations, routes, envoys: mended(world, of.name) }
    }
    case 'Remove':
      return { ...world, routes: without(world.routes, of.name), envoys: mended(world, of.name) }
    case 'Join': {
      const streams = world.streams + 1
      const holds = of.remembers ? envoy?.holds : undefined
      const listens = { isAccepted: of.remembers && envoy?.listens.isAccepted === true }
      const stream = String(streams)
      const fresh = { id: of.id, stream, holds, listens, refuses: new Set<string>() }
      const unseen = { owes: new Set<string>(), wasSeen: false, isSynced: false }
      return { ...put({ ...fresh, ...unseen, since: new Map() }), streams }
    }
    case 'Lose':
      return envoy === undefined ? world : put({ ...envoy, stream: undefined, isSynced: false })
    case 'Accept':
      return envoy?.stream === undefined ? world : put(accept(world, envoy, of.names))
    case 'Refuse':
      return envoy?.stream === undefined || !isBehind(world, envoy, of.name)
        ? world
        : put({ ...envoy, refuses: new Set([...envoy.refuses, of.name]) })
    case 'Bind': {
      if (envoy?.stream === undefined) return world
      const { isAccepted } = envoy.listens
      const refused = { isAccepted, refuses: 'its port is taken' }
      return put({ ...envoy, listens: of.isTaken ? { isAccepted: true } : refused })
    }
    case 'Pass':
      return { ...world, nowMs: world.nowMs + of.ms }
  }
}

const without = <A>(map: ReadonlyMap<string, A>, key: string): ReadonlyMap<string, A> =>
  new Map([...map].filter(([each]) => each !== key))

/** A route that changes is refused no more, and nobody is late with it yet. */
const mended = ({ envoys }: ModelWorld, changed: string): ReadonlyMap<string, ModelEnvoy> =>
  new Map(
    [...envoys].map(([key, envoy]) => {
      const refuses = new Set([...envoy.refuses].filter((each) => each !== changed))
      return [key, { ...envoy, refuses, since: without(envoy.since, changed) }]
    }),
  )

const accept = (
  { routes }: ModelWorld,
  envoy: ModelEnvoy,
  what: ReadonlyArray<string>,
): ModelEnvoy => {
  const holds = new Map<string, number>()
  for (const [of, generation] of routes) {
    const isTaken = what.includes(of) && !envoy.refuses.has(of)
    const held = isTaken ? generation : envoy.holds?.get(of)
    if (held !== undefined) holds.set(of, held)
  }
  return { ...envoy, holds }
}

/** Brings what is expected of an Envoy up to date with what can be seen of it now. */
const note = (world: ModelWorld, envoy: ModelEnvoy): ModelEnvoy => {
  if (envoy.stream === undefined) return envoy
  const behind = names.filter((of) => isBehind(world, envoy, of) && !envoy.refuses.has(of))
  const owes = new Set(behind.filter((of) => !envoy.wasSeen || envoy.owes.has(of)))
  const hasAll = envoy.holds !== undefined && envoy.listens.isAccepted
  const isSynced = envoy.isSynced || (owes.size === 0 && hasAll)
  const late = isSynced ? behind : []
  const since = new Map(late.map((of) => [of, envoy.since.get(of) ?? world.nowMs]))
  return { ...envoy, owes, wasSeen: true, isSynced, since }
}

export const formsIn = ({ routes }: ModelWorld): Forms => Object.fromEntries(routes)

export const nodesIn = ({ envoys }: ModelWorld): ReadonlyArray<NodeOptions> =>
  [...envoys.values()].map(({ id: of, stream, holds, refuses, listens }) => ({
    id: of,
    stream,
    listens,
    holds: holds && Object.fromEntries(holds),
    refuses: Object.fromEntries([...refuses].map((each) => [each, `${of} refuses ${each}`])),
  }))
