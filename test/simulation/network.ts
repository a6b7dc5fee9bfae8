import * as client from '../../src/adapters/memory/envoy/client/index.js'
import type {
  EnvoyEvent,
  ReceivedResponse,
} from '../../src/adapters/memory/envoy/client/messages.js'
import type { EnvoyOptions, EnvoyState } from '../../src/adapters/memory/envoy/client/state.js'
import { encodeResponse } from '../../src/adapters/memory/transport/encode.js'
import { perType } from '../../src/core/type-url.js'
import type { StreamId } from '../../src/core/xds/fleet.js'
import type { DiscoveryRequest, Response } from '../../src/core/xds/messages.js'
import type { FleetStream } from '../../src/core/xds/open-streams.js'
import type { SteppingClock } from './clock.js'
import type { Random } from './random.js'

/** The server's side, as far as a network needs it. */
export interface Server {
  readonly open: (id: StreamId, stream: FleetStream) => void
  readonly receive: (id: StreamId, request: DiscoveryRequest) => void
  readonly close: (id: StreamId, reason: string) => void
}

/** A place where an Envoy runs: one process after the other. */
export interface Envoy {
  readonly index: number
  readonly options: EnvoyOptions
  /** `undefined` while no process runs. */
  state: EnvoyState | undefined
  /** Counts the processes. */
  process: number
  link: Link | undefined
  isCut: boolean
  /** The process has lost its word of what it holds: in delta nobody can ever know then. */
  hasLostVersions: boolean
  /** To the server there is another one with its id: it heard both, on streams that were there at once. */
  isKnownTwin: boolean
  cancelTimer: () => void
  cancelReconnect: () => void
}

/** A stream. Each direction keeps its order. */
export interface Link {
  readonly id: StreamId
  readonly envoy: Envoy
  readonly toServer: Array<DiscoveryRequest | 'Gone'>
  readonly toClient: Array<ReceivedResponse | 'End'>
  isClientThere: boolean
  isServerThere: boolean
  /** How many requests of the burst with which an Envoy connects are still on their way. */
  burst: number
  /** A request of it has arrived. */
  isHeard: boolean
  /** The streams of others with its id that were there while it was. */
  readonly rivals: Set<Link>
}

/** Who watches what goes over the wire, and what the Envoys make of it. */
export interface Onlooker {
  readonly onChange: (envoy: Envoy) => void
  readonly onProcess: (envoy: Envoy) => void
  readonly onSend: (link: Link, response: Response) => void
  readonly onLoseVersions: (envoy: Envoy) => void
  readonly onReceive: (link: Link, request: DiscoveryRequest) => void
}

export interface Network {
  readonly envoys: ReadonlyArray<Envoy>
  /** Puts a server where the Envoys connect to; nobody, if it is gone: then all streams are. */
  readonly serve: (server: Server | undefined) => void
  /** Delivers one message, number `choice` modulo their count, or of one Envoy; says whether there was one. */
  readonly deliver: (choice: number, envoy?: Envoy) => boolean
  readonly pending: () => number
  readonly connect: (envoy: Envoy) => void
  readonly hangUp: (envoy: Envoy, isHalf: boolean) => void
  readonly cut: (envoy: Envoy, isCut: boolean) => void
  readonly kill: (envoy: Envoy) => void
  readonly launch: (envoy: Envoy) => void
  /** It forgets which versions it has, and goes on with what it holds. */
  readonly loseVersions: (envoy: Envoy) => void
  /** Lets an Envoy look at its surroundings again. */
  readonly nudge: (envoy: Envoy) => void
}

/** The longest an Envoy waits between two tries to connect, in milliseconds. */
const slowReconnectMs = 29_000
const fastReconnectMs = 2_000

/**
 * How far apart the requests may arrive that an Envoy wrote at once, in milliseconds: less than the control plane
 * waits for clusters (`warmTimeoutMs`), which takes one that has asked for nothing else to have nothing else.
 */
const maxBurstMs = 4_000

/** Envoys that connect by themselves, and messages that wait until they are delivered. */
export const makeNetwork = (
  options: ReadonlyArray<EnvoyOptions>,
  clock: SteppingClock,
  random: Random,
  onlooker: Onlooker,
): Network => {
  const links = new Set<Link>()
  let server: Server | undefined
  let streams = 0

  const tell = (envoy: Envoy, event?: EnvoyEvent): void => {
    const time: EnvoyEvent = { _tag: 'TimePassed', nowMs: clock.nowMs() }
    for (const each of event === undefined ? [time] : [time, event]) {
      if (envoy.state === undefined) return
      const [state, effects] = client.step(envoy.state, each)
      envoy.state = state
      for (const { request } of effects) envoy.link?.toServer.push(request)
    }
    envoy.cancelTimer()
    const due = envoy.state && client.nextTimer(envoy.state)
    if (due !== undefined)
      envoy.cancelTimer = clock.after(due - clock.nowMs(), () => {
        tell(envoy)
      })
    onlooker.onChange(envoy)
  }
  const connectLater = (envoy: Envoy): void => {
    envoy.cancelReconnect()
    const delayMs = random.below(random.chance(0.7) ? fastReconnectMs : slowReconnectMs)
    envoy.cancelReconnect = clock.after(delayMs, () => {
      connect(envoy)
      if (envoy.link === undefined) connectLater(envoy)
    })
  }
  const connect = (envoy: Envoy): void => {
    if (server === undefined || envoy.state === undefined || envoy.isCut) return
    if (envoy.link !== undefined) return
    envoy.cancelReconnect()
    streams += 1
    const link: Link = {
      id: String(streams),
      envoy,
      toServer: [],
      toClient: [],
      isClientThere: true,
      isServerThere: true,
      burst: 0,
      isHeard: false,
      rivals: new Set(),
    }
    for (const other of links)
      if (other.envoy !== envoy && other.envoy.options.node.id === envoy.options.node.id) {
        other.rivals.add(link)
        link.rivals.add(other)
      }
    links.add(link)
    envoy.link = link
    server.open(link.id, serverEnd(link, onlooker))
    tell(envoy, { _tag: 'Connected' })
    link.burst = link.toServer.length
  }
  /** An Envoy writes all that it asks for at once: where some of it has arrived the rest is not far. */
  const hurry = (link: Link): void => {
    clock.after(maxBurstMs, () => {
      while (link.burst > 0 && links.has(link) && link.toServer.length > 0) deliverTo(link, true)
    })
  }
  /** The client's end is gone; what was on its way to it is lost. */
  const leave = (link: Link): void => {
    link.isClientThere = false
    link.toClient.length = 0
    const { envoy } = link
    if (envoy.link === link) envoy.link = undefined
    tell(envoy, { _tag: 'Disconnected' })
    if (envoy.state !== undefined) connectLater(envoy)
  }
  const hangUp = (envoy: Envoy, isHalf: boolean): void => {
    const { link } = envoy
    if (link === undefined) return
    if (isHalf) link.toServer.push('Gone')
    else links.delete(link)
    leave(link)
    if (!isHalf) server?.close(link.id, 'the connection broke')
  }
  const deliverTo = (link: Link, isToServer: boolean): void => {
    if (isToServer) {
      const request = link.toServer.shift()
      if (!link.isHeard) hurry(link)
      link.burst -= 1
      if (request === 'Gone') {
        links.delete(link)
        server?.close(link.id, 'the connection broke')
      } else if (request !== undefined && link.isServerThere) {
        link.isHeard = true
        for (const rival of link.rivals)
          if (rival.isHeard) rival.envoy.isKnownTwin = link.envoy.isKnownTwin = true
        onlooker.onReceive(link, request)
        server?.receive(link.id, request)
      }
      return
    }
    const response = link.toClient.shift()
    if (response === 'End') {
      links.delete(link)
      leave(link)
    } else if (response !== undefined) {
      tell(link.envoy, { _tag: 'ResponseReceived', response })
    }
  }
  const heads = (envoy?: Envoy): ReadonlyArray<readonly [link: Link, isToServer: boolean]> =>
    [...links].flatMap((link) =>
      envoy === undefined || link.envoy === envoy
        ? [
            ...(link.toServer.length > 0 ? [[link, true] as const] : []),
            ...(link.toClient.length > 0 ? [[link, false] as const] : []),
          ]
        : [],
    )
  const envoys = options.map((each, index): Envoy => ({
    index,
    options: each,
    state: undefined,
    process: 0,
    link: undefined,
    isCut: false,
    hasLostVersions: false,
    isKnownTwin: false,
    cancelTimer: () => undefined,
    cancelReconnect: () => undefined,
  }))
  const kill = (envoy: Envoy): void => {
    if (envoy.state === undefined) return
    hangUp(envoy, true)
    envoy.cancelTimer()
    envoy.cancelReconnect()
    envoy.state = undefined
    onlooker.onProcess(envoy)
  }
  return {
    envoys,
    serve: (next) => {
      const old = [...links]
      links.clear()
      server = undefined
      for (const link of old) if (link.isClientThere) leave(link)
      for (const envoy of envoys) envoy.isKnownTwin = false
      server = next
    },
    deliver: (choice, envoy) => {
      const candidates = heads(envoy)
      const head = candidates[choice % candidates.length]
      if (head === undefined) return false
      deliverTo(...head)
      return true
    },
    pending: () => heads().length,
    connect,
    hangUp,
    cut: (envoy, isCut) => {
      envoy.isCut = isCut
      if (isCut) hangUp(envoy, true)
      else if (envoy.link === undefined && envoy.state !== undefined) connectLater(envoy)
    },
    kill,
    launch: (envoy) => {
      kill(envoy)
      envoy.process += 1
      envoy.hasLostVersions = false
      envoy.state = client.start(envoy.options, clock.nowMs())
      onlooker.onProcess(envoy)
      tell(envoy)
      connectLater(envoy)
    },
    loseVersions: (envoy) => {
      if (envoy.state === undefined) return
      hangUp(envoy, false)
      envoy.hasLostVersions = true
      onlooker.onLoseVersions(envoy)
      const { watches } = envoy.state
      envoy.state = {
        ...envoy.state,
        watches: perType((typeUrl) => ({ ...watches[typeUrl], version: '', reported: new Map() })),
      }
    },
    nudge: (envoy) => {
      tell(envoy)
    },
  }
}

const serverEnd = (link: Link, onlooker: Onlooker): FleetStream => {
  const { variant, node } = link.envoy.options
  return {
    variant,
    peer: `memory:${node.id}`,
    send: (response) => {
      onlooker.onSend(link, response)
      const received = encodeResponse(variant, response)
      if (link.isClientThere) link.toClient.push(received)
      return received.resources.reduce((sum, { bytes }) => sum + bytes.length, 0)
    },
    end: () => {
      link.isServerThere = false
      if (link.isClientThere) link.toClient.push('End')
    },
  }
}
