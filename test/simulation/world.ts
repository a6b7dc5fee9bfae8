import { defaultDataPlane } from '../../src/core/edge-route.js'
import { clusterType, routeType } from '../../src/core/type-url.js'
import type { EnvoyOptions } from '../../src/adapters/memory/envoy/client/state.js'
import { RouteConfiguration } from '../../src/gen/envoy/config/route/v3/route.js'
import { type Api, makeApi } from './api.js'
import { type SteppingClock, steppingClock } from './clock.js'
import { type Disk, makeDisk } from './disk.js'
import { type Judge, makeJudge } from './judge.js'
import { type Envoy, makeNetwork, type Network } from './network.js'
import { makePlane, type Plane } from './plane.js'
import { randomOf } from './random.js'
import { contestedPort, hostOf, slowHost } from './routes.js'
import { formOfRoute, routesIn } from './serving.js'
import type { EnvoySetup, Setup } from './steps.js'
import { type Say, type Traffic, watchTraffic } from './traffic.js'

/** Everything that a run is about. */
export interface World {
  readonly setup: Setup
  readonly clock: SteppingClock
  readonly api: Api
  readonly disk: Disk
  readonly judge: Judge
  readonly network: Network
  readonly plane: Plane
  readonly traffic: Traffic
  readonly tastes: ReadonlyArray<Taste>
  /** Whether names are resolved. */
  readonly resolver: { works: boolean }
}

/** What one Envoy does not take at the moment, and what it did not at any time: that is not sent to it again. */
export interface Taste {
  spice: number
  backend: number
  isPortBusy: boolean
  readonly once: { readonly spices: Set<number>; readonly backends: Set<number> }
}

export const isPicky = ({ once: { spices, backends } }: Taste): boolean =>
  spices.size + backends.size > 0

/** When every run begins: the year does not matter. */
const startMs = Date.UTC(2030, 0, 1)

export const makeWorld = (setup: Setup, say: Say): World => {
  const random = randomOf(setup.seed ^ 0x5eed)
  const clock = steppingClock(startMs)
  const resolver = { works: true }
  const api = makeApi(clock)
  const disk = makeDisk(clock, random.fork())
  const { formLimits } = setup
  const scene = { clock, random: random.fork(), api, disk, formLimits }
  const tastes = setup.envoys.map((): Taste => ({
    spice: 0,
    backend: 0,
    isPortBusy: false,
    once: { spices: new Set(), backends: new Set() },
  }))
  const options = tastes.flatMap((taste, index) => {
    const each = setup.envoys[index]
    const tables: Mind['tables'] = () =>
      [...(network.envoys[index]?.state?.watches[routeType].held.values() ?? [])].map(
        ({ bytes }) => bytes,
      )
    return each ? [optionsOf(each, { taste, resolves: () => resolver.works, tables })] : []
  })
  const judge = makeJudge(
    scene,
    () => network.envoys,
    () => traffic.onAcksDemanded(),
  )
  const traffic = watchTraffic(judge, (line) => {
    say(`${clock.nowMs() - startMs} ms: ${line}`)
  })
  const network: Network = makeNetwork(options, clock, random.fork(), {
    onChange: judge.onEnvoyChange,
    onProcess: judge.onProcess,
    onSend: (link, response) => {
      traffic.onSend(link, response)
      if (response.typeUrl === routeType && response.resources.length > 0) judge.onTablesSent(link)
    },
    onReceive: (link, request) => {
      judge.onHeard(link.envoy)
      traffic.onReceive(link, request)
    },
    onLoseVersions: judge.onLoseVersions,
  })
  api.server.observe(judge.onObjectChange)
  const plane = makePlane(scene, network, judge)
  return { setup, clock, api, disk, judge, network, plane, traffic, tastes, resolver }
}

const text = new TextDecoder('latin1')

interface Mind {
  readonly taste: Taste
  readonly resolves: () => boolean
  /** The route tables that it holds. */
  readonly tables: () => ReadonlyArray<Uint8Array>
}

const optionsOf = (
  { id, variant, seed, drainMs }: EnvoySetup,
  { taste, resolves, tables }: Mind,
): EnvoyOptions => ({
  node: { id, cluster: defaultDataPlane },
  variant,
  seed,
  drainMs,
  resolves: (host) => host !== slowHost || resolves(),
  busyPorts: (port) => port === contestedPort && taste.isPortBusy,
  refuse: (typeUrl, name, bytes) => {
    const { spice, backend } = taste
    if (typeUrl === routeType && spice > 0) {
      const known = new Set(tables().flatMap((table) => formsWith(spice, table)))
      const isNew = formsWith(spice, bytes).some((form) => !known.has(form))
      return isNew ? `${name}: hot${spice} is too much` : undefined
    }
    if (typeUrl === clusterType && backend > 0)
      return text.decode(bytes).includes(hostOf(backend)) ? `${name}: no such backend` : undefined
    return undefined
  },
})

/** The forms in a table that are so spicy: what it has taken once a client does not refuse when it is sent again. */
const formsWith = (spice: number, table: Uint8Array): ReadonlyArray<string> =>
  routesIn(RouteConfiguration.decode(table)).flatMap((route) =>
    route.requestHeadersToAdd?.some(({ header }) => header?.value === `hot${spice}`) === true
      ? [formOfRoute(route)]
      : [],
  )

export const envoyAt = ({ network: { envoys } }: World, index: number): Envoy | undefined =>
  envoys[index % envoys.length]
