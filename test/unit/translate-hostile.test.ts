import { describe, expect, test } from 'vitest'
import { type Context, defaultContext, type EndpointSlice } from '../../src/core/context.js'
import type { EdgeRoute } from '../../src/core/edge-route.js'
import { entries, get } from '../../src/core/persistent-map.js'
import type { Rule } from '../../src/core/rule.js'
import { versionOf, viewOf } from '../../src/core/snapshot.js'
import { allotClaims } from '../../src/core/translate/claims.js'
import { translate, type Translation } from '../../src/core/translate.js'
import { encodeContent } from '../../src/core/resource.js'
import { clusterType, endpointType, routeType, typeUrls } from '../../src/core/type-url.js'
import { RouteConfiguration } from '../../src/gen/envoy/config/route/v3/route.js'
import { ClusterLoadAssignment } from '../../src/gen/envoy/config/endpoint/v3/endpoint.js'

const plane = 'edge-envoy'

const route = (name: string, spec: object, metadata: object = {}): EdgeRoute => ({
  metadata: { namespace: 'a', name, uid: name, generation: 1, finalizers: [], ...metadata },
  spec,
})

const good = route('good', { matches: [{ path: { prefix: '/good' } }], respond: { code: 200 } })

const versions = ({ snapshot }: Translation): ReadonlyArray<string> =>
  typeUrls.map((typeUrl) => versionOf(viewOf(snapshot, plane)[typeUrl]))

const ring: { self?: unknown } = {}
ring.self = ring

const thrower = {
  get headers(): never {
    throw new Error('read me not')
  },
  respond: { code: 200 },
}

class Disguised {
  respond = { code: 200 }
  get headers(): unknown {
    return { response: { set: [{ name: 'bad name', value: 'a\nb' }] } }
  }
}

/** What TypeScript would not let pass, but JavaScript does. */
const untyped = (value: unknown): EdgeRoute => value as EdgeRoute

const metadataOf = (of: unknown): object =>
  typeof of === 'object' && of !== null && 'metadata' in of ? { ...(of.metadata as object) } : {}

const hostile: ReadonlyArray<readonly [string, EdgeRoute]> = [
  ['null', untyped(null)],
  ['nothing', untyped(undefined)],
  ['an empty object', untyped({})],
  ['a text', untyped('route')],
  ['no metadata', untyped({ metadata: null, spec: good.spec })],
  ['no spec', untyped({ metadata: route('bad', {}).metadata })],
  ['a spec with a ring in it', route('bad', { respond: ring })],
  ['a spec with a bigint in it', route('bad', { respond: { code: 1n } })],
  ['a spec that throws when it is read', route('bad', thrower)],
  ['a spec whose getters hide what is wrong', route('bad', new Disguised())],
  [
    'a path that is inherited',
    route('bad', {
      matches: [Object.create({ path: { prefix: 'a?b' } }) as object],
      respond: { code: 200 },
    }),
  ],
  ['a generation that is no number', route('bad', good.spec, { generation: NaN })],
  ['a generation that is a bigint', route('bad', good.spec, { generation: 1n })],
  ['a uid that is an object', route('bad', good.spec, { uid: {} })],
  [
    'a weight of infinity',
    route('bad', { backends: [{ address: { host: 'a', port: 1 }, weight: Infinity }] }),
  ],
]

describe('an object that was put together by hand', () => {
  test.each(hostile)('harms no other, and throws nothing: %s', (_title, bad) => {
    const { verdicts } = translate([good, bad])
    expect(verdicts.get('good')?.accepted).toEqual({ _tag: 'Accepted' })
    expect(verdicts.size).toBe(2)
    const isServed = [...verdicts.values()].some(
      ({ uid, accepted }) => uid !== 'good' && accepted._tag === 'Accepted',
    )
    if (!isServed) expect(versions(translate([good, bad]))).toEqual(versions(translate([good])))
  })

  test.each(hostile)(
    'under the uid of another one loses to it, in whatever order: %s',
    (_title, bad) => {
      const rival = untyped({ ...(bad as object), metadata: { ...metadataOf(bad), uid: 'good' } })
      const expected = translate([good])
      for (const both of [
        [good, rival],
        [rival, good],
      ])
        if (translate([rival]).verdicts.get('good')?.accepted._tag === 'Invalid')
          expect(versions(translate(both))).toEqual(versions(expected))
      expect(versions(translate([good, rival]))).toEqual(versions(translate([rival, good])))
    },
  )

  test('means what its decoded form means: null is nothing, and what is absent has its default', () => {
    const written = untyped({
      metadata: { name: 'r', namespace: null, deletionTimestamp: null },
      spec: {
        matches: [{ path: { prefix: '/a', exact: null }, headers: null }],
        respond: { code: 200 },
        redirect: null,
        timeouts: null,
        headers: { request: null, response: { set: null } },
      },
    })
    const plain = untyped({
      metadata: {
        namespace: 'default',
        name: 'r',
        uid: 'default/r',
        generation: 1,
        finalizers: [],
      },
      spec: {
        matches: [{ path: { prefix: '/a' } }],
        respond: { code: 200 },
        headers: { request: {}, response: {} },
      },
    })
    expect(versions(translate([written]))).toEqual(versions(translate([plain])))
    expect([...translate([written]).verdicts.keys()]).toEqual(['default/r'])
  })
})

describe('what one object may weigh', () => {
  test('is bounded where its lists are multiplied: it is refused, and the others are served', () => {
    const many = <A>(count: number, make: (n: number) => A): ReadonlyArray<A> =>
      Array.from({ length: count }, (_, n) => make(n))
    const heavy = route('heavy', {
      hostnames: many(64, (n) => `h${n}.test`),
      matches: many(64, (n) => ({ path: { prefix: `/${n}` } })),
      respond: { code: 200 },
      headers: {
        response: { set: many(36, (n) => ({ name: `x-${n}`, value: 'x'.repeat(16_000) })) },
      },
    })
    const { verdicts } = translate([heavy, good])
    expect(verdicts.get('heavy')?.accepted._tag).toBe('Invalid')
    expect(versions(translate([heavy, good]))).toEqual(versions(translate([good])))
  })

  test('its fragments share what it says of all its claims', () => {
    const wide = route('wide', {
      hostnames: ['a.test', 'b.test'],
      matches: [{ path: { prefix: '/a' } }, { path: { prefix: '/b' } }],
      backends: [{ address: { host: '10.0.0.1', port: 1 } }],
    })
    const table = get(viewOf(translate([wide]).snapshot, plane)[routeType], 'http')
    const fragments =
      table?.content._tag === 'Table'
        ? table.content.table.virtualHosts.flatMap((host) => host.fragments)
        : []
    expect(fragments).toHaveLength(4)
    expect(new Set(fragments.map(({ rest }) => rest)).size).toBe(1)
  })
})

const slice = (addresses: ReadonlyArray<string>, port = 80): EndpointSlice => ({
  namespace: 'a',
  name: 's',
  service: 'web',
  ports: [{ name: '', port }],
  endpoints: [{ addresses, ready: true }],
})

const contextWith = (endpointSlices: ReadonlyArray<EndpointSlice>): Context => ({
  ...defaultContext,
  services: [{ namespace: 'a', name: 'web', ports: [{ name: '', port: 80 }] }],
  endpointSlices,
})

const toWeb = route('web', { backends: [{ service: { name: 'web', port: 80 } }] })

const addressesIn = (context: Context): ReadonlyArray<string | undefined> =>
  [...entries(viewOf(translate([toWeb], context).snapshot, plane)[endpointType])].flatMap(
    ({ content }) =>
      content._tag === 'Bytes'
        ? (ClusterLoadAssignment.decode(content.bytes).endpoints ?? []).flatMap(({ lbEndpoints }) =>
            (lbEndpoints ?? []).map(({ hostIdentifier }) =>
              hostIdentifier?.$case === 'endpoint' &&
              hostIdentifier.value.address?.address?.$case === 'socketAddress'
                ? hostIdentifier.value.address.address.value.address
                : undefined,
            ),
          )
        : [],
  )

describe('the context', () => {
  test('may hold endpoints that Envoy would refuse: they are passed over, and the others stay', () => {
    const context = contextWith([
      slice(['db.example.com']),
      slice(['10.0.0.1', 'fd00::1']),
      slice(['10.0.0.2'], 70_000),
      slice([]),
      slice(['0:0:0:0:0:0:0:1']),
      slice(['::1']),
    ])
    expect(addressesIn(context)).toEqual(['10.0.0.1', '::1'])
    const none = translate([toWeb], contextWith([slice(['db.example.com'])])).verdicts.get('web')
    expect(none?.unresolved.map(({ reason }) => reason)).toEqual(['NoReadyEndpoints'])
  })

  test('gives the same whatever the order of what it names twice', () => {
    const twice = (order: <A>(items: ReadonlyArray<A>) => ReadonlyArray<A>): Context => ({
      dataPlanes: new Map([
        [
          plane,
          {
            listeners: order([
              { name: 'http', address: '0.0.0.0', port: 1 },
              { name: 'http', address: '0.0.0.0', port: 2 },
            ]),
          },
        ],
      ]),
      services: order([
        { namespace: 'a', name: 'web', ports: [{ name: '', port: 80 }] },
        { namespace: 'a', name: 'web', ports: [{ name: 'x', port: 81 }] },
      ]),
      endpointSlices: [],
    })
    const forth = translate(
      [toWeb],
      twice((items) => items),
    )
    const back = translate(
      [toWeb],
      twice((items) => [...items].reverse()),
    )
    expect(versions(back)).toEqual(versions(forth))
    expect([...back.verdicts]).toEqual([...forth.verdicts])
  })
})

describe('several rules of one object', () => {
  const rule = (uid: string, ...prefixes: ReadonlyArray<string>): Rule => ({
    owner: { kind: 'Other', uid, key: { namespace: 'a', name: uid }, createdAtMs: 1 },
    dataPlane: plane,
    hosts: ['*'],
    matches: prefixes.map((value) => ({
      path: { _tag: 'Prefix', value },
      method: undefined,
      headers: [],
      query: [],
    })),
    action: { _tag: 'Respond', code: 200, body: '' },
    requestHeaders: { set: [], add: [], remove: [] },
    responseHeaders: { set: [], add: [], remove: [] },
  })

  test('are judged together, and never against each other', () => {
    const { outcomes, granted } = allotClaims([
      rule('old', '/a'),
      rule('new', '/a', '/b'),
      rule('new', '/c'),
      rule('new', '/c'),
    ])
    expect(outcomes.get('old')).toEqual({ _tag: 'Accepted' })
    expect(outcomes.get('new')).toMatchObject({ _tag: 'Conflicted', kept: 2, lostCount: 1 })
    expect(granted).toHaveLength(3)
  })

  test('of many lost claims the first are named, and all are counted', () => {
    const paths = Array.from({ length: 100 }, (_, n) => `/${n}`)
    const outcome = allotClaims([rule('old', ...paths), rule('new', ...paths)]).outcomes.get('new')
    expect(outcome).toMatchObject({ _tag: 'Conflicted', kept: 0, lostCount: 100 })
    expect(outcome?._tag === 'Conflicted' && outcome.lost).toHaveLength(16)
  })
})

test('backends that share a cluster are one entry with the sum of their weights', () => {
  const address = { host: '10.0.0.1', port: 1 }
  const { snapshot } = translate([route('r', { backends: [{ address, weight: 3 }, { address }] })])
  expect([...entries(viewOf(snapshot, plane)[clusterType])]).toHaveLength(1)
  const single = translate([route('r', { backends: [{ address }] })])
  expect(versions({ ...single, snapshot })).toEqual(versions(single))
})

test.each([
  ['0s', 0n],
  ['10m', 600n],
  ['5m', undefined],
  ['15s', undefined],
])('a timeout of %s is not cut short by the idle timeout of the listener', (request, seconds) => {
  const waits = route('r', {
    backends: [{ address: { host: '10.0.0.1', port: 1 } }],
    timeouts: { request },
  })
  const table = get(viewOf(translate([waits]).snapshot, plane)[routeType], 'http')
  const bytes = table === undefined ? new Uint8Array() : encodeContent(table.content)
  const action = RouteConfiguration.decode(bytes).virtualHosts?.[0]?.routes?.[0]?.action
  const idle = action?.$case === 'route' ? action.value.idleTimeout : undefined
  expect(idle?.seconds).toBe(seconds)
})
