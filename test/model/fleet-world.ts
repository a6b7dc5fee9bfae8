import fc from 'fast-check'
import { type Delivery, memoryControlPlane, type MemoryEnvoy } from 'edgewright/memory'
import {
  type Context,
  defaultDataPlane,
  type EdgeRoute,
  entries,
  routeType,
  type Snapshot,
  translate,
  type TypeUrl,
  type Variant,
  viewOf,
} from 'edgewright'
import { RouteConfiguration } from '../../src/gen/envoy/config/route/v3/route.js'
import { Route } from '../../src/gen/envoy/config/route/v3/route_components.js'
import type { Resource } from '../../src/core/resource.js'

/** What the Envoys of a run are like. */
export interface Traits {
  readonly variant?: Variant
  /** Each of them refuses some routes and clusters, not all the same. */
  readonly refusing: boolean
  /** Some names never resolve, and their clusters warm for ever. */
  readonly slow: boolean
}

/** One object of a world: where it is served, and by which backend. */
interface Spec {
  readonly id: number
  readonly path: number
  readonly backend: number
  /** Marks a form that some Envoys refuse. */
  readonly spice: number
}

export interface Plan {
  readonly envoys: ReadonlyArray<{
    readonly variant: Variant
    readonly seed: number
    readonly dislikes: ReadonlyArray<number>
    readonly dislikesBackend: number
  }>
  readonly traits: Traits
}

export type Action =
  | { readonly _tag: 'Publish'; readonly world: ReadonlyArray<Spec> }
  | { readonly _tag: 'Deliver'; readonly choices: ReadonlyArray<number> }
  | { readonly _tag: 'Pass'; readonly ms: number }
  | { readonly _tag: 'Reconnect' | 'Restart'; readonly envoy: number }

const spec = fc.record({
  id: fc.nat(5),
  path: fc.nat(6),
  backend: fc.nat(5),
  spice: fc.nat(3),
})

export const plan = (traits: Traits): fc.Arbitrary<Plan> =>
  fc.record({
    traits: fc.constant(traits),
    envoys: fc.array(
      fc.record({
        variant:
          traits.variant === undefined
            ? fc.constantFrom<Variant>('sotw', 'delta')
            : fc.constant(traits.variant),
        seed: fc.nat(1000),
        dislikes: fc.uniqueArray(fc.integer({ min: 1, max: 3 }), { maxLength: 2 }),
        dislikesBackend: fc.integer({ min: 0, max: 9 }),
      }),
      { minLength: 1, maxLength: 2 },
    ),
  })

export const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .uniqueArray(spec, { selector: ({ id }) => id, maxLength: 6 })
      .map((world): Action => ({ _tag: 'Publish', world })),
  },
  {
    weight: 6,
    arbitrary: fc
      .array(fc.nat(20), { minLength: 1, maxLength: 30 })
      .map((choices): Action => ({ _tag: 'Deliver', choices })),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(1, 1_000, 5_000, 12_000).map((ms): Action => ({ _tag: 'Pass', ms })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('Reconnect' as const, 'Restart' as const), fc.nat(1))
      .map(([_tag, envoy]): Action => ({ _tag, envoy })),
  },
)

const paths = ['/', '/a', '/a/b', '/c', '/d', '/e', '/f']

const route = ({ id, path, backend, spice }: Spec): EdgeRoute => ({
  metadata: { namespace: 'm', name: `r${id}`, uid: `u${id}`, generation: 1, finalizers: [] },
  spec: {
    matches: [{ path: { prefix: paths[path] ?? '/' } }],
    backends: [
      backend < 3
        ? { service: { name: `s${backend}`, port: 80 } }
        : { address: { host: `h${backend}.test`, port: 80 + backend } },
    ],
    ...(spice === 0
      ? {}
      : { headers: { request: { set: [{ name: 'x-spice', value: `hot${spice}` }] } } }),
  },
})

const context: Partial<Context> = {
  services: [0, 1, 2].map((n) => ({
    namespace: 'm',
    name: `s${n}`,
    ports: [{ name: '', port: 80 }],
  })),
  endpointSlices: [0, 1].map((n) => ({
    namespace: 'm',
    name: `s${n}-1`,
    service: `s${n}`,
    ports: [{ name: '', port: 8080 }],
    endpoints: [{ addresses: [`10.0.0.${n + 1}`], ready: true }],
  })),
}

const text = new TextDecoder('latin1')

export interface Fleet {
  readonly act: (action: Action) => void
  /** Faults end: everything is delivered, and time passes until nothing is due. */
  readonly rest: () => void
  /** What Envoys lack of the target, in words. */
  readonly missing: () => ReadonlyArray<string>
}

export const play = (
  { envoys, traits }: Plan,
  say: (line: string) => void = () => undefined,
): Fleet => {
  const plane = memoryControlPlane()
  const empty = translate([], { ...base, ...context }).snapshot
  let snapshot: Snapshot = empty
  let worldNow: ReadonlyArray<Spec> = []
  plane.publish(snapshot)
  const refuses =
    (of: Plan['envoys'][number]) =>
    (typeUrl: TypeUrl, _name: string, bytes: Uint8Array): string | undefined => {
      if (!traits.refusing) return undefined
      const content = text.decode(bytes)
      const spice = of.dislikes.find((each) => content.includes(`hot${each}`))
      if (typeUrl === routeType && spice !== undefined) return `hot${spice} is too much`
      const host = `h${of.dislikesBackend}.test`
      return typeUrl.endsWith('Cluster') && content.includes(host) ? 'bad cluster' : undefined
    }
  const all = envoys.map((each, index) =>
    plane.connect({
      node: { id: `envoy-${index}`, cluster: defaultDataPlane },
      variant: each.variant,
      seed: each.seed,
      refuse: refuses(each),
      resolves: (host) => !(traits.slow && host === 'h5.test'),
    }),
  )
  const check = (when: string): void => {
    for (const envoy of all) checkClusters(envoy, when)
  }
  const deliver = (choice: number): void => {
    tell(plane.deliverNext(choice), say)
    check('after a delivery')
  }
  const settle = (): void => {
    for (let n = 0; ; n++) {
      const next = plane.deliverNext()
      if (next === undefined) return
      tell(next, say)
      say(
        JSON.stringify(
          plane
            .ledger()
            .nodes.map(({ refusals }) => refusals.map(({ name, message }) => name + message)),
        ),
      )
      check('while it settles')
      if (n > 5_000) throw new Error('broken: it never comes to rest')
    }
  }
  return {
    act: (of) => {
      switch (of._tag) {
        case 'Publish':
          worldNow = of.world
          snapshot = translate(worldNow.map(route), { ...base, ...context }).snapshot
          plane.publish(snapshot)
          return
        case 'Deliver':
          return of.choices.forEach(deliver)
        case 'Pass':
          plane.pass(of.ms)
          return check('after time')
        case 'Reconnect':
          return all[of.envoy % all.length]?.reconnect()
        case 'Restart':
          return all[of.envoy % all.length]?.restart()
      }
    },
    rest: () => {
      for (let n = 0; n < 40; n++) {
        settle()
        plane.pass(3_000)
        check('at rest')
      }
      settle()
    },
    missing: () =>
      all.flatMap((envoy, index) => {
        const of = envoys[index]
        return of === undefined ? [] : lacks(envoy, of, worldNow, snapshot, traits)
      }),
  }
}

/** A message in one line. */
const tell = (delivery: Delivery | undefined, say: (line: string) => void): void => {
  if (delivery === undefined) return
  const { stream } = delivery
  const short = (typeUrl: string): string => typeUrl.slice(typeUrl.lastIndexOf('.') + 1)
  switch (delivery._tag) {
    case 'Request': {
      const { typeUrl, responseNonce, errorDetail } = delivery.request
      return say(`${stream} > ${short(typeUrl)} ${responseNonce} ${errorDetail?.message ?? ''}`)
    }
    case 'Response': {
      const { typeUrl, nonce, resources, removed } = delivery.response
      const names = resources.map(({ name, bytes }) =>
        typeUrl === routeType ? `${name}[${showTable(bytes)}]` : name,
      )
      return say(
        `${stream} < ${short(typeUrl)} ${nonce} ${[...names, ...removed.map((each) => `-${each}`)].join(' ')}`,
      )
    }
    case 'End':
      return say(`${stream} ends: ${delivery.message}`)
  }
}

const showTable = (bytes: Uint8Array): string =>
  (RouteConfiguration.decode(bytes).virtualHosts ?? [])
    .flatMap((host) => host.routes ?? [])
    .map(({ name, match, requestHeadersToAdd }) => {
      const path =
        match?.pathSpecifier?.$case === 'prefix' ||
        match?.pathSpecifier?.$case === 'pathSeparatedPrefix'
          ? match.pathSpecifier.value
          : '?'
      return `${path} ${name ?? ''} ${(requestHeadersToAdd ?? []).map((each) => each.header?.value ?? '').join()}`
    })
    .join('; ')

const base: Context = {
  dataPlanes: new Map([
    [defaultDataPlane, { listeners: [{ name: 'http', address: '0.0.0.0', port: 10_000 }] }],
  ]),
  services: [],
  endpointSlices: [],
}

/** The law: whatever an Envoy's table names, its router knows. */
const checkClusters = (envoy: MemoryEnvoy, when: string): void => {
  const held = envoy.held()
  const active = held['type.googleapis.com/envoy.config.cluster.v3.Cluster']
  for (const [name, { bytes }] of held[routeType])
    for (const { routes } of RouteConfiguration.decode(bytes).virtualHosts ?? [])
      for (const { action: of } of routes ?? []) {
        if (of?.$case !== 'route' || of.value.clusterSpecifier?.$case !== 'cluster') continue
        const cluster = of.value.clusterSpecifier.value
        if (!active.has(cluster))
          throw new Error(`broken ${when}: ${name} names ${cluster}, which is not there`)
      }
}

/** Each object is served in its present form, unless this Envoy refuses that. */
const lacks = (
  envoy: MemoryEnvoy,
  of: Plan['envoys'][number],
  world: ReadonlyArray<Spec>,
  snapshot: Snapshot,
  { refusing, slow }: Traits,
): ReadonlyArray<string> => {
  const refused = world.filter(
    ({ spice, backend }) =>
      (refusing && (of.dislikes.includes(spice) || backend === of.dislikesBackend)) ||
      (slow && backend === 5),
  )
  const bytes = envoy.held()[routeType].get('http')?.bytes
  if (bytes === undefined) return ['it has no table']
  const routes = (RouteConfiguration.decode(bytes).virtualHosts ?? []).flatMap(
    (host) => host.routes ?? [],
  )
  const goal = [...entries(viewOf(snapshot, defaultDataPlane)[routeType])].flatMap((table) =>
    routesOf(table),
  )
  const names = new Set(refused.map(({ id }) => `m/r${id}`))
  const want = goal.filter(({ name }) => !names.has(name ?? ''))
  const show = (route: (typeof goal)[number]): string =>
    JSON.stringify(route, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    )
  const have = new Set(routes.map(show))
  const lost = want.filter((route) => !have.has(show(route))).map((route) => `lacks ${show(route)}`)
  const wanted = new Set(goal.map(({ name }) => name))
  const extra = routes
    .filter(({ name }) => !wanted.has(name) && name !== 'unavailable')
    .map((route) => `has ${show(route)}`)
  return [...lost, ...extra]
}

const routesOf = (table: Resource) =>
  table.content._tag === 'Bytes'
    ? []
    : table.content.table.virtualHosts
        .flatMap(({ fragments }) => fragments)
        .map(({ match, rest }) => Route.decode(Buffer.concat([match, rest])))
