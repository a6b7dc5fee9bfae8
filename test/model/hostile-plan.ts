import fc from 'fast-check'
import {
  bytesResource,
  clusterType,
  type Context,
  defaultDataPlane,
  type EdgeRoute,
  entries,
  listenerType,
  routeType,
  set,
  type Snapshot,
  translate,
  type Variant,
  viewOf,
} from 'edgewright'
import { inspect } from '../../src/adapters/memory/envoy/client/inspect.js'
import type { Refuse } from '../../src/adapters/memory/envoy/client/options.js'
import { Cluster } from '../../src/gen/envoy/config/cluster/v3/cluster.js'

/** What may happen in a run. */
export interface Traits {
  /** Each Envoy refuses some routes and clusters, not all the same. */
  readonly refusing?: boolean
  /** One host name resolves late: its cluster warms until then. */
  readonly slow?: boolean
  /** Listeners come, go, and change their ports. */
  readonly listeners?: boolean
  /** Some Envoys refuse listeners on some ports. */
  readonly ports?: boolean
  /** Clusters change under their names. */
  readonly epochs?: boolean
  /** The control plane dies, and the next one starts with what this one remembered. */
  readonly crash?: boolean
  /** Or with nothing. */
  readonly forget?: boolean
}

/** One object: what it answers with, and by which backend. Backends above 2 are addresses; 7 is none. */
export interface Spec {
  readonly id: number
  readonly form: number
  readonly backend: number
  /** Marks a form that some Envoys refuse. */
  readonly spice: number
  /** It claims what others claim too. */
  readonly shared: boolean
}

/** Listeners: 0 absent, 1 on its port, 2 on another one. */
type Port = 0 | 1 | 2

export interface World {
  readonly specs: ReadonlyArray<Spec>
  readonly http: Port
  readonly alt: Port
  readonly epoch: number
}

export interface EnvoyPlan {
  readonly seed: number
  readonly dislikes: ReadonlyArray<number>
  readonly dislikesBackend: number
  readonly dislikesPort: boolean
}

export interface Plan {
  readonly variant: Variant
  readonly traits: Traits
  readonly envoys: ReadonlyArray<EnvoyPlan>
}

export type Action =
  | { readonly _tag: 'Publish'; readonly world: World }
  | { readonly _tag: 'Edit'; readonly spec: Spec; readonly remove: boolean }
  /** Delivers messages, one for each choice among the queues that are not empty. */
  | { readonly _tag: 'Deliver'; readonly choices: ReadonlyArray<number> }
  | { readonly _tag: 'Settle' }
  | { readonly _tag: 'Pass'; readonly ms: number }
  | { readonly _tag: 'Break' | 'Lose' | 'Return' | 'Restart'; readonly envoy: number }
  | {
      readonly _tag: 'Crash'
      readonly mode: 'memory' | 'nothing'
      readonly publishFirst: boolean
    }

export const allIds: ReadonlyArray<number> = [0, 1, 2, 3, 4, 5, 6, 7]

const specs: fc.Arbitrary<Spec> = fc.record({
  id: fc.nat(7),
  form: fc.nat(1),
  backend: fc.nat(8),
  spice: fc.constantFrom(0, 0, 0, 0, 0, 0, 1, 2, 3),
  shared: fc.constantFrom(false, false, false, false, true),
})

const worlds = ({ listeners, epochs }: Traits): fc.Arbitrary<World> =>
  fc.record({
    specs: fc.uniqueArray(specs, { selector: ({ id }) => id, maxLength: 8 }),
    http: listeners === true ? fc.constantFrom<Port>(1, 1, 1, 2, 0) : fc.constant<Port>(1),
    alt: listeners === true ? fc.constantFrom<Port>(0, 1, 1, 2) : fc.constant<Port>(0),
    epoch: epochs === true ? fc.nat(2) : fc.constant(0),
  })

export const plans = (variant: Variant, traits: Traits): fc.Arbitrary<Plan> =>
  fc.record({
    variant: fc.constant(variant),
    traits: fc.constant(traits),
    envoys: fc.array(
      fc.record({
        seed: fc.nat(1000),
        dislikes:
          traits.refusing === true
            ? fc.uniqueArray(fc.integer({ min: 1, max: 3 }), { maxLength: 2 })
            : fc.constant([]),
        dislikesBackend: traits.refusing === true ? fc.integer({ min: 3, max: 9 }) : fc.constant(9),
        dislikesPort: traits.ports === true ? fc.boolean() : fc.constant(false),
      }),
      { minLength: 1, maxLength: 2 },
    ),
  })

export const actions = (traits: Traits): fc.Arbitrary<ReadonlyArray<Action>> =>
  fc.array(
    fc.oneof(
      { weight: 3, arbitrary: worlds(traits).map((world): Action => ({ _tag: 'Publish', world })) },
      {
        weight: 4,
        arbitrary: fc
          .record({ spec: specs, remove: fc.boolean() })
          .map((each): Action => ({ _tag: 'Edit', ...each })),
      },
      {
        weight: 8,
        arbitrary: fc
          .array(fc.nat(20), { minLength: 1, maxLength: 25 })
          .map((choices): Action => ({ _tag: 'Deliver', choices })),
      },
      { weight: 2, arbitrary: fc.constant<Action>({ _tag: 'Settle' }) },
      {
        weight: 2,
        arbitrary: fc
          .constantFrom(1, 1_000, 5_000, 12_000)
          .map((ms): Action => ({ _tag: 'Pass', ms })),
      },
      {
        weight: 3,
        arbitrary: fc
          .tuple(fc.constantFrom('Break', 'Lose', 'Return', 'Restart'), fc.nat(1))
          .map(([_tag, envoy]): Action => ({ _tag, envoy })),
      },
      ...(traits.crash === true ? [{ weight: 1, arbitrary: crashes(traits) }] : []),
    ),
    { maxLength: 40, size: 'max' },
  )

const crashes = ({ forget }: Traits): fc.Arbitrary<Action> =>
  fc
    .tuple(
      forget === true ? fc.constantFrom('memory', 'nothing') : fc.constant('memory' as const),
      fc.boolean(),
    )
    .map(([mode, publishFirst]): Action => ({ _tag: 'Crash', mode, publishFirst }))

export const uidOf = (id: number): string => `u${id}`

/** The name of an object's route in its tables. */
export const routeOf = (id: number): string => `m/r${id}`

/** What stands in a route that answers in the form of the spec. */
export const tagOf = ({ form, spice }: Spec): string =>
  `form${form}${spice === 0 ? '' : ` hot${spice}`}`

export const isSameSpec = (a: Spec, b: Spec): boolean =>
  tagOf(a) === tagOf(b) && a.backend === b.backend && a.shared === b.shared

const route = (spec: Spec): EdgeRoute => ({
  metadata: {
    namespace: 'm',
    name: `r${spec.id}`,
    uid: uidOf(spec.id),
    generation: 1,
    finalizers: [],
  },
  spec: {
    matches: [{ path: { prefix: spec.shared ? '/shared' : `/r${spec.id}` } }],
    ...action(spec),
    headers: { response: { set: [{ name: 'x-tag', value: tagOf(spec) }] } },
  },
})

const action = ({ backend, form }: Spec): Partial<EdgeRoute['spec']> => {
  if (backend === 7) return { respond: { code: 200, body: `form${form}` } }
  return {
    backends: [
      backend < 3
        ? { service: { name: `s${backend}`, port: 80 } }
        : { address: { host: `h${backend}.test`, port: 80 + backend } },
    ],
  }
}

const services: Omit<Context, 'dataPlanes'> = {
  services: [0, 1, 2].map((n) => ({
    namespace: 'm',
    name: `s${n}`,
    ports: [{ name: '', port: 80 }],
  })),
  endpointSlices: [0, 1].map((n) => ({
    namespace: 'm',
    name: `s${n}-x`,
    service: `s${n}`,
    ports: [{ name: '', port: 8080 }],
    endpoints: [{ addresses: [`10.0.0.${n + 1}`], ready: true }],
  })),
}

/** The host name that resolves late. */
export const slowHost = 'h5.test'

export const latin = new TextDecoder('latin1')

export const snapshotOf = (world: World, { slow }: Traits): Snapshot => {
  const listeners = [
    ...(world.http === 0 ? [] : [{ name: 'http', address: '0.0.0.0', port: 9_999 + world.http }]),
    ...(world.alt === 0 ? [] : [{ name: 'alt', address: '0.0.0.0', port: 10_009 + world.alt }]),
  ]
  const { snapshot } = translate([...world.specs].sort((a, b) => a.id - b.id).map(route), {
    ...services,
    dataPlanes: new Map([[defaultDataPlane, { listeners }]]),
  })
  const view = viewOf(snapshot, defaultDataPlane)
  let clusters = view[clusterType]
  for (const { name, content, refs, owners } of entries(clusters)) {
    if (content._tag !== 'Bytes') continue
    const isSlow = slow === true && latin.decode(content.bytes).includes(slowHost)
    const bytes = Cluster.encode({
      ...Cluster.decode(content.bytes),
      ...(isSlow && { waitForWarmOnInit: true }),
      ...(world.epoch > 0 && { connectTimeout: { seconds: BigInt(world.epoch), nanos: 0 } }),
    }).finish()
    clusters = set(clusters, bytesResource(name, bytes, refs, owners))
  }
  return { dataPlanes: new Map([[defaultDataPlane, { ...view, [clusterType]: clusters }]]) }
}

/** The ports that some Envoys dislike. */
const dislikedPorts: ReadonlyArray<number | undefined> = [10_001, 10_011]

/** True of an object that the Envoy does not take in this form, itself or its cluster. */
export const isGuilty = ({ dislikes, dislikesBackend }: EnvoyPlan, spec: Spec): boolean =>
  dislikes.includes(spec.spice) ||
  (spec.backend === dislikesBackend && spec.backend >= 3 && spec.backend !== 7)

export const refuseOf =
  ({ dislikes, dislikesBackend, dislikesPort }: EnvoyPlan): Refuse =>
  (typeUrl, name, bytes) => {
    const content = latin.decode(bytes)
    if (typeUrl === routeType) {
      const spice = dislikes.find((each) => content.includes(`hot${each}`))
      return spice === undefined ? undefined : `hot${spice} is too much`
    }
    if (typeUrl === clusterType && content.includes(`h${dislikesBackend}.test`))
      return `bad cluster ${name}`
    const isBusy =
      typeUrl === listenerType &&
      dislikesPort &&
      dislikedPorts.includes(inspect(listenerType, bytes).address?.port)
    return isBusy ? `cannot bind: ${name}` : undefined
  }
