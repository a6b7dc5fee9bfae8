import { createSocket, type Socket } from 'node:dgram'
import { Agent } from 'node:http'
import { createServer, type Server } from 'node:net'
import {
  clusterType,
  type Context,
  type EdgeRoute,
  listenerType,
  type Snapshot,
  translate,
  type TypeUrl,
  type Variant,
} from 'edgewright'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withResolver } from '../support/bootstraps.js'
import { eventually } from '../support/envoy.js'
import { anyPort, aRoute, forwarding, type Rig, type RigEnvoy, startRig } from '../support/rig.js'
import { tamperClusters, withBadRing } from '../support/tampered.js'
import { ask, type Backend, median, startBackend } from '../support/traffic.js'

/** Two fleets of one Envoy each: beside the second one's innocents stands an offender. */
type Plane = 'calm' | 'beside'

/** Innocents that are sent one after the other while the offender stands; as many are sent alone. */
const samples = 15
/** Innocents that come in one response with an offender of their own. */
const samplesTogether = 5
/** The machine is shared: a measurement that fails may be repeated, and the best one counts. */
const attempts = 3
const maxRatio = 1.5
/** Longer than anything that a cure allows; an innocent that takes longer is lost. */
const patienceMs = 30_000

/** What holds up others in other control planes. */
interface Offender {
  readonly title: string
  /** Spoils the world: `turn` makes it another offender of the same kind. */
  readonly world: (innocents: ReadonlyArray<EdgeRoute>, turn: number, busyPort: number) => Snapshot
  /** How one sees that it stands. */
  readonly sign:
    | { readonly _tag: 'Refused'; readonly typeUrl: TypeUrl }
    | { readonly _tag: 'Cluster'; readonly name: string }
}

const on = (plane: Plane, route: EdgeRoute): EdgeRoute => ({
  ...route,
  spec: { ...route.spec, dataPlane: plane },
})

const contextOf = (
  more: Partial<Context> = {},
  busy: Context['dataPlanes'] = new Map(),
): Context => ({
  dataPlanes: new Map([
    ['calm', { listeners: [anyPort] }],
    ['beside', { listeners: [anyPort] }],
    ...busy,
  ]),
  services: [],
  endpointSlices: [],
  ...more,
})

const snapshotOf = (routes: ReadonlyArray<EdgeRoute>, context: Context = contextOf()): Snapshot =>
  translate(routes, context).snapshot

/** The route of an offender: its path says nothing to anybody. */
const offending = (turn: number, spec: EdgeRoute['spec']): EdgeRoute =>
  on('beside', aRoute('offender', `/offender-${turn}`, spec))

const offenders: ReadonlyArray<Offender> = [
  {
    title: 'a DNS backend whose resolver never answers',
    world: (innocents, turn) =>
      snapshotOf([
        ...innocents,
        offending(turn, { backends: [{ address: { host: `silent-${turn}.test`, port: 80 } }] }),
      ]),
    sign: { _tag: 'Cluster', name: 'dns/silent-' },
  },
  {
    title: 'a backend without endpoints',
    world: (innocents, turn) =>
      snapshotOf(
        [
          ...innocents,
          offending(turn, { backends: [{ service: { name: `idle-${turn}`, port: 80 } }] }),
        ],
        contextOf({
          services: [{ namespace: 'test', name: `idle-${turn}`, ports: [{ name: '', port: 80 }] }],
        }),
      ),
    sign: { _tag: 'Cluster', name: 'service/test/idle-' },
  },
  {
    title: 'a cluster that Envoy refuses',
    world: (innocents, turn) =>
      tamperClusters(
        'offender',
        withBadRing,
        'beside',
      )(
        snapshotOf([
          ...innocents,
          offending(turn, { backends: [{ address: { host: `127.9.9.${turn + 1}`, port: 80 } }] }),
        ]),
      ),
    sign: { _tag: 'Refused', typeUrl: clusterType },
  },
  {
    title: 'a listener on a busy port',
    world: (innocents, turn, port) => {
      const listeners = [anyPort, { name: `busy-${turn}`, address: '127.0.0.1', port }]
      return snapshotOf(innocents, contextOf({}, new Map([['beside', { listeners }]])))
    },
    sign: { _tag: 'Refused', typeUrl: listenerType },
  },
]

/** A resolver that takes every question and answers none. */
const silentResolver = (): Promise<Socket> =>
  new Promise((resolve) => {
    const socket = createSocket('udp4')
    socket.bind(0, '127.0.0.1', () => resolve(socket))
  })

const occupiedPort = (): Promise<{ readonly server: Server; readonly port: number }> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve({ server, port: typeof address === 'object' && address ? address.port : 0 })
    })
  })

/** Two Envoys that nothing has happened to yet: what one offender leaves behind harms no other case. */
const startEnvoys = async (variant: Variant, dnsPort: number): Promise<Envoys> => {
  const rig = await startRig(variant, snapshotOf([]))
  const change = withResolver(dnsPort)
  const calm = await rig.start({ dataPlane: 'calm', change })
  const beside = await rig.start({ dataPlane: 'beside', change })
  return { rig, calm, beside }
}

interface Envoys extends Readonly<Record<Plane, RigEnvoy>> {
  readonly rig: Rig
}

const untilItStands = async ({ rig, beside }: Envoys, { sign }: Offender): Promise<void> => {
  if (sign._tag === 'Cluster')
    await eventually(
      () => beside.admin('/clusters'),
      (clusters) => clusters.includes(sign.name),
    )
  else
    await eventually(
      () => rig.events.filter(({ _tag }) => _tag === 'ResponseNacked'),
      (nacks) => nacks.some((nack) => 'typeUrl' in nack && nack.typeUrl === sign.typeUrl),
    )
}

describe.each(['delta', 'sotw'] as const)('beside a real Envoy in %s', (variant) => {
  let backend: Backend
  let resolver: Socket
  let busy: Awaited<ReturnType<typeof occupiedPort>>
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  beforeAll(async () => {
    backend = await startBackend('innocent')
    resolver = await silentResolver()
    busy = await occupiedPort()
  })
  afterAll(async () => {
    agent.destroy()
    await backend.stop()
    resolver.close()
    busy.server.close()
  })

  const runWith = async (envoys: Envoys, offender: Offender): Promise<number> => {
    let innocents: ReadonlyArray<EdgeRoute> = []
    let turn = 0
    const publish = (): void => {
      envoys.rig.publish(offender.world(innocents, turn, busy.port))
    }
    /** From the publication of a new route to a new cluster to its first answer, in ms. */
    const delayOf = async (plane: Plane): Promise<number> => {
      const path = `/innocent-${innocents.length}`
      const host = `127.1.${innocents.length >> 7}.${(innocents.length & 127) + 1}`
      innocents = [...innocents, on(plane, forwarding(path.slice(1), path, host, backend.port))]
      const port = await envoys[plane].port()
      const start = performance.now()
      publish()
      for (let waited = 0; waited < patienceMs; waited = performance.now() - start)
        if ((await ask(port, path, agent)) === '200 innocent') return performance.now() - start
      throw new Error(`an innocent on ${plane} was not served within ${patienceMs} ms`)
    }
    publish()
    await untilItStands(envoys, offender)
    let best = Infinity
    for (let attempt = 0; attempt < attempts && best > maxRatio; attempt += 1) {
      const { calm, beside } = await byTurns(delayOf)
      best = Math.min(best, beside / calm)
      const ratio = (beside / calm).toFixed(2)
      print(`${variant}: ${offender.title}: ${ms(beside)} beside it, ${ms(calm)} alone: ${ratio}`)
    }
    const together: Array<number> = []
    for (turn = 1; turn <= samplesTogether; turn += 1) together.push(await delayOf('beside'))
    print(`${variant}: ${offender.title}: ${ms(median(together))} in its own response`)
    return best
  }

  test.each(offenders)(
    '$title delays no innocent change that comes after it',
    { timeout: 300_000 },
    async (offender) => {
      const envoys = await startEnvoys(variant, resolver.address().port)
      try {
        expect(await runWith(envoys, offender)).toBeLessThanOrEqual(maxRatio)
      } finally {
        await envoys.rig.stop()
      }
    },
  )
})

/** Medians. Each plane goes first as often as the other, so that both see the same machine. */
const byTurns = async (
  delayOf: (plane: Plane) => Promise<number>,
): Promise<Readonly<Record<Plane, number>>> => {
  const delays: Record<Plane, Array<number>> = { calm: [], beside: [] }
  const order: ReadonlyArray<Plane> = ['calm', 'beside', 'beside', 'calm']
  for (let sample = 0; sample < 2 * samples; sample += 1) {
    const plane = order[sample % order.length] ?? 'calm'
    delays[plane].push(await delayOf(plane))
  }
  return { calm: median(delays.calm), beside: median(delays.beside) }
}

const ms = (value: number): string => `${value.toFixed(1)} ms`

const print = (line: string): void => void process.stdout.write(`${line}\n`)
