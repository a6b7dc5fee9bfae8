import {
  clusterType,
  type EdgeRoute,
  routeType,
  type Snapshot,
  type TypeUrl,
  type XdsEvent,
} from 'edgewright'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withRegexLimit } from '../support/bootstraps.js'
import { eventually } from '../support/envoy.js'
import { convictions, stillServing } from '../support/ledger-view.js'
import {
  answering,
  aRoute,
  contextOf,
  forwarding,
  type Rig,
  type RigEnvoy,
  snapshotOf,
  startRig,
} from '../support/rig.js'
import {
  tamperClusters,
  tamperRoute,
  withBadHeader,
  withBadRegex,
  withBadRing,
} from '../support/tampered.js'
import { answers, ask, type Backend, startBackend, startTraffic } from '../support/traffic.js'

/** How many responses of the type a search may take, the first refusal not counted. */
const maxResponses = 25
/** Of routes that are in one table with the culprit. */
const crowd = 1_000
/** A search of a table of this size takes some ten exchanges of a few milliseconds each. */
const searchMs = 20_000
/** Changes of innocents beside a culprit that stands. */
const changes = 10
/** A refused cluster comes and goes this often. */
const rounds = 3

const many = Array.from({ length: crowd }, (_, index) =>
  answering(`r${index}`, `/r${index}`, `r${index}`),
)

/** The crowd, one of it changed. */
const manyWith = (body: string): ReadonlyArray<EdgeRoute> =>
  many.map((route) => (route.metadata.uid === 'r500' ? answering('r500', '/r500', body) : route))

/** A refusal that our own validation would let through if it knew no better. */
interface Refusal {
  readonly title: string
  readonly typeUrl: TypeUrl
  /** In Envoy's words. */
  readonly message: RegExp
  /** The object `uid` at `/uid`, in the form that will be refused. */
  readonly route: (uid: string, port: number) => EdgeRoute
  readonly spoil: (uid: string) => (snapshot: Snapshot) => Snapshot
}

const refusals: ReadonlyArray<Refusal> = [
  {
    title: 'a match that is no regular expression',
    typeUrl: routeType,
    message: /missing \]/,
    route: (uid) => answering(uid, `/${uid}`, 'refused'),
    spoil: (uid) => tamperRoute(uid, withBadRegex),
  },
  {
    title: 'a header made of something unknown',
    typeUrl: routeType,
    message: /EDGEWRIGHT_NONE/,
    route: (uid) => answering(uid, `/${uid}`, 'refused'),
    spoil: (uid) => tamperRoute(uid, withBadHeader),
  },
  {
    title: 'a cluster with an impossible ring',
    typeUrl: clusterType,
    message: /minimum_ring_size/,
    route: (uid, port) => forwarding(uid, `/${uid}`, '127.2.0.1', port),
    spoil: (uid) => tamperClusters(uid, withBadRing),
  },
]

describe.each(['delta', 'sotw'] as const)('where a real Envoy in %s refuses', (variant) => {
  let rig: Rig
  let envoy: RigEnvoy
  let backend: Backend
  let port: number
  beforeAll(async () => {
    backend = await startBackend('backend')
    rig = await startRig(variant, snapshotOf([]))
    envoy = await rig.start()
    port = await envoy.port()
  })
  afterAll(async () => {
    await rig.stop()
    await backend.stop()
  })

  /** The crowd, a route that forwards, what takes all that is left, and these. */
  const world = (routes: ReadonlyArray<EdgeRoute>, body = 'r500'): Snapshot =>
    snapshotOf([
      ...manyWith(body),
      answering('all', '/', 'all'),
      forwarding('forward', '/forward', '127.2.9.9', backend.port),
      ...routes,
    ])

  const convicted = async (uid: string, { message }: Refusal): Promise<void> => {
    await eventually(
      () => convictions(rig.server(), uid),
      (found) => found.length > 0,
      searchMs,
    )
    for (const conviction of convictions(rig.server(), uid)) {
      expect(conviction.node).toBe(envoy.id)
      expect(conviction.message).toMatch(message)
    }
  }

  const acquitted = async (): Promise<void> => {
    await eventually(
      () => convictions(rig.server()),
      (found) => found.length === 0,
    )
  }

  test.each(refusals)('$title, everybody else goes on, and it serves its last form', async (of) => {
    rig.publish(world([answering('culprit', '/culprit', 'before')]))
    await answers(port, '/culprit', '200 before')
    await answers(port, '/forward', '200 backend')
    const traffic = startTraffic(port, ['/r0', '/r999', '/forward', '/', '/culprit'])
    const bad = (body: string): Snapshot =>
      of.spoil('culprit')(world([of.route('culprit', backend.port)], body))
    const since = rig.events.length

    rig.publish(bad('r500'))
    await refused(rig, of.typeUrl, since)
    rig.publish(bad('changed'))
    await answers(port, '/r500', '200 changed')
    await convicted('culprit', of)
    expect(responsesAfterRefusal(rig.events.slice(since), of.typeUrl)).toBeLessThanOrEqual(
      maxResponses,
    )
    expect(convictions(rig.server()).flatMap(({ owners }) => owners)).toEqual(['culprit'])
    expect(Object.fromEntries(await traffic.stop())).toEqual({
      '/r0': ['200 r0'],
      '/r999': ['200 r999'],
      '/forward': ['200 backend'],
      '/': ['200 all'],
      '/culprit': ['200 before'],
    })

    rig.publish(world([answering('culprit', '/culprit', 'fixed')]))
    await answers(port, '/culprit', '200 fixed')
    await acquitted()

    rig.publish(bad('changed again'))
    await convicted('culprit', of)
    expect(await ask(port, '/culprit')).toBe('200 fixed')
    rig.publish(world([]))
    await answers(port, '/culprit', '200 all')
    await acquitted()
    await eventually(
      () => stillServing(rig.server(), 'culprit'),
      (nodes) => nodes.length === 0,
    )
    expect(await ask(port, '/culprit')).toBe('200 all')
  })

  test.each(refusals.slice(1))(
    '$title, a new route answers 503 and no other one its requests',
    async (of) => {
      rig.publish(world([]))
      await answers(port, '/fresh', '200 all')
      const bad = (body: string, more: ReadonlyArray<EdgeRoute> = []): Snapshot =>
        of.spoil('fresh')(world([of.route('fresh', backend.port), ...more], body))
      rig.publish(bad('r500'))
      await convicted('fresh', of)
      await answers(port, '/fresh', '503')
      const traffic = startTraffic(port, ['/fresh', '/r0', '/r999'])
      for (let change = 0; change < changes; change += 1) {
        const beside = forwarding('beside', `/${change}`, `127.2.1.${change + 1}`, backend.port)
        rig.publish(bad(`change ${change}`, [beside]))
        await answers(port, '/r500', `200 change ${change}`)
        await answers(port, `/${change}`, '200 backend')
      }
      expect(Object.fromEntries(await traffic.stop())).toEqual({
        '/fresh': ['503'],
        '/r0': ['200 r0'],
        '/r999': ['200 r999'],
      })
      rig.publish(world([answering('fresh', '/fresh', 'fixed')]))
      await answers(port, '/fresh', '200 fixed')
      await acquitted()
    },
  )

  test('a cluster that is deleted and comes back as it was, nobody takes it for accepted', async () => {
    const ring = refusals[2]
    if (ring === undefined) throw new Error('there is no such refusal')
    const form = (body: string): EdgeRoute => answering('again', '/again', body)
    const bad = ring.spoil('again')(world([ring.route('again', backend.port)]))
    for (let round = 0; round < rounds; round += 1) {
      rig.publish(world([form(`round ${round}`)]))
      await answers(port, '/again', `200 round ${round}`)
      rig.publish(bad)
      await convicted('again', ring)
      expect(await ask(port, '/again')).toBe(`200 round ${round}`)
      rig.publish(world([]))
      await answers(port, '/again', '200 all')
      rig.publish(bad)
      await convicted('again', ring)
      await answers(port, '/again', '503')
    }
    rig.publish(world([]))
    await answers(port, '/again', '200 all')
    await acquitted()
  })
})

/** Resolves when a response of a type was refused that was sent after the first `since` events. */
const refused = async (rig: Rig, typeUrl: TypeUrl, since: number): Promise<void> => {
  await eventually(
    () => rig.events.slice(since).filter((event) => isNack(event, typeUrl)).length,
    (count) => count > 0,
  )
}

const isNack = (event: XdsEvent, typeUrl: TypeUrl): boolean =>
  event._tag === 'ResponseNacked' && event.typeUrl === typeUrl

const responsesAfterRefusal = (events: ReadonlyArray<XdsEvent>, typeUrl: TypeUrl): number =>
  events
    .slice(events.findIndex((event) => isNack(event, typeUrl)))
    .filter((event) => event._tag === 'ResponseSent' && event.typeUrl === typeUrl).length

/** Of the two Envoys of a fleet only one takes this. */
const longRegex = '/(abc|def|ghi|jkl|mno|pqr)+/[a-z]{1,20}'
/** Envoy counts 66 for it. */
const shortOfIt = 60

test.each(['delta', 'sotw'] as const)(
  'where one of two Envoys in %s refuses a route, the other one serves it',
  async (variant) => {
    const before = aRoute('long', '/', {
      matches: [{ path: { prefix: '/abc' } }],
      respond: { code: 200, body: 'before' },
    })
    const after = aRoute('long', '/', {
      matches: [{ path: { prefix: '/abc' } }, { path: { regex: longRegex } }],
      respond: { code: 200, body: 'after' },
    })
    const innocent = (body: string): EdgeRoute => answering('innocent', '/innocent', body)
    const rig = await startRig(variant, snapshotOf([before, innocent('one')], contextOf()))
    try {
      const tolerant = await rig.start()
      const strict = await rig.start({ change: withRegexLimit(shortOfIt) })
      const [ports, since] = [[await tolerant.port(), await strict.port()], rig.events.length]
      const [atTolerant = 0, atStrict = 0] = ports
      const traffic = startTraffic(atStrict, ['/abc', '/innocent'])

      rig.publish(snapshotOf([after, innocent('one')]))
      await answers(atTolerant, '/def/z', '200 after')
      await refused(rig, routeType, since)
      expect(await ask(atTolerant, '/abc')).toBe('200 after')
      const found = await eventually(
        () => convictions(rig.server()),
        (all) => all.length > 0,
      )
      expect(found.map(({ node, owners }) => ({ node, owners }))).toEqual([
        { node: strict.id, owners: ['long'] },
      ])
      expect(found[0]?.message).toMatch(/program size/)
      expect(Object.fromEntries(await traffic.stop())).toEqual({
        '/abc': ['200 before'],
        '/innocent': ['200 one'],
      })

      rig.publish(snapshotOf([after, innocent('two')]))
      for (const port of ports) await answers(port, '/innocent', '200 two')
      expect(await ask(atStrict, '/abc')).toBe('200 before')
      expect(await ask(atTolerant, '/def/z')).toBe('200 after')
    } finally {
      await rig.stop()
    }
  },
)
