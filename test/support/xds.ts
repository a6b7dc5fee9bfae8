import { ClusterLoadAssignment } from '../../src/gen/envoy/config/endpoint/v3/endpoint.js'
import type { Resource } from '../../src/core/resource.js'
import { bytesResource } from '../../src/core/resource.js'
import { type Snapshot, view } from '../../src/core/snapshot.js'
import {
  clusterType,
  endpointType,
  listenerType,
  routeType,
  scopeType,
  type TypeUrl,
} from '../../src/core/type-url.js'
import type {
  DeltaRequest,
  DiscoveryRequest,
  NodeIdentity,
  Response,
  SotwRequest,
  Variant,
} from '../../src/core/xds/messages.js'
import { type NodeMemory, remember } from '../../src/core/xds/node-memory.js'
import {
  nextTimer,
  openSession,
  type Session,
  type SessionEffect,
  type SessionEvent,
  type SessionOptions,
  step,
} from '../../src/core/xds/session.js'

/** The types by the names that people give to their services. */
export const types = {
  cds: clusterType,
  eds: endpointType,
  lds: listenerType,
  srds: scopeType,
  rds: routeType,
} as const

export type Short = keyof typeof types

/** In the order in which a stream sends them. */
export const shorts: ReadonlyArray<Short> = ['cds', 'eds', 'lds', 'srds', 'rds']

export const variants: ReadonlyArray<Variant> = ['sotw', 'delta']

export const shortOf = (typeUrl: TypeUrl): Short =>
  shorts.find((short) => types[short] === typeUrl) ?? 'cds'

export const dataPlane = 'edge'

export const aNode: NodeIdentity = { id: 'envoy-1', cluster: dataPlane }

/** `'a b'` → `['a', 'b']`. */
export const words = (text: string): ReadonlyArray<string> =>
  text.split(' ').filter((word) => word !== '')

/**
 * Makes a resource from its short form: `a`, `a=2` where content matters, `a=2>e` where it refers to
 * the load assignment `e`.
 */
export const aResource = (text: string): Resource => {
  const [definition = '', ref] = text.split('>')
  const [name = '', content = ''] = definition.split('=')
  const refs = ref === undefined ? [] : [{ typeUrl: endpointType, name: ref }]
  return bytesResource(name, new TextEncoder().encode(content), refs)
}

/** What one data plane holds: resources in their short form, by type. */
export type World = Partial<Record<Short, string>>

/** Makes a snapshot in which one data plane is known. Equal worlds give equal, separate snapshots. */
export const aSnapshot = (world: World, plane: string = dataPlane): Snapshot => ({
  dataPlanes: new Map([
    [
      plane,
      view(
        Object.fromEntries(
          shorts.map((short) => [types[short], words(world[short] ?? '').map(aResource)]),
        ),
      ),
    ],
  ]),
})

/** The version that a resource in its short form has. */
export const versionOf = (text: string): string => aResource(text).version

/** An empty load assignment. */
export const noEndpoints = (name: string): Resource =>
  bytesResource(name, ClusterLoadAssignment.encode({ clusterName: name }).finish())

/** `a`, or `a=2`; `a=(none)` for an empty load assignment. */
export const showResource = ({ name, content, version }: Resource): string => {
  if (version === noEndpoints(name).version) return `${name}=(none)`
  const text = content._tag === 'Bytes' ? new TextDecoder().decode(content.bytes) : '(table)'
  return text === '' ? name : `${name}=${text}`
}

/** `cds a=2 b -c`: type, resources, names that are gone. */
export const showResponse = ({ typeUrl, resources, removed }: Response): string =>
  [shortOf(typeUrl), ...resources.map(showResource), ...removed.map((name) => `-${name}`)].join(' ')

/** What a stream may be opened with. */
export interface Setup {
  readonly options?: SessionOptions
  /** Who the client says it is, in its first request. */
  readonly node?: NodeIdentity
  /** What an earlier stream of this client has left behind. */
  readonly memory?: NodeMemory | undefined
}

/** One stream of a client: feeds the session, and remembers what came back. */
export interface Stream {
  /** Feeds one event; returns what it caused. */
  readonly feed: (event: SessionEvent) => ReadonlyArray<SessionEffect>
  /** Publishes a world; returns the responses in short. */
  readonly publish: (world: World | Snapshot) => ReadonlyArray<string>
  /** Takes a request as it is; returns the responses in short. */
  readonly receive: (request: DiscoveryRequest) => ReadonlyArray<string>
  /** Lets time pass; returns the responses in short. */
  readonly pass: (ms: number) => ReadonlyArray<string>
  /** What time it is, in milliseconds. */
  readonly nowMs: () => number
  /** When it wants to be told that time has passed, in milliseconds; `undefined` if it waits for no time. */
  readonly timer: () => number | undefined
  /** The effects of the last event. */
  readonly effects: () => ReadonlyArray<SessionEffect>
  /** Every response so far. */
  readonly responses: () => ReadonlyArray<Response>
  /** What it leaves behind when it ends. */
  readonly memory: () => NodeMemory | undefined
  /** The newest response of a type. */
  readonly latest: (short: Short) => Response | undefined
}

export const openStream = (
  variant: Variant,
  options?: SessionOptions,
  memory?: NodeMemory,
): Stream => {
  let session: Session = { ...openSession(variant, options), memory }
  let last: ReadonlyArray<SessionEffect> = []
  let nowMs = 0
  const responses: Array<Response> = []
  const feed = (event: SessionEvent): ReadonlyArray<SessionEffect> => {
    const [next, effects] = step(session, event, nowMs)
    session = next
    last = effects
    responses.push(...sentBy(effects))
    return effects
  }
  const shown = (event: SessionEvent): ReadonlyArray<string> =>
    sentBy(feed(event)).map(showResponse)
  return {
    feed,
    publish: (world) =>
      shown({
        _tag: 'SnapshotPublished',
        snapshot: 'dataPlanes' in world ? world : aSnapshot(world),
      }),
    receive: (request) => shown({ _tag: 'RequestReceived', request }),
    pass: (ms) => {
      nowMs += ms
      return shown({ _tag: 'TimePassed' })
    },
    nowMs: () => nowMs,
    timer: () => nextTimer(session),
    effects: () => last,
    responses: () => responses,
    memory: () => session.node && remember(session.node, dataPlane, session),
    latest: (short) => responses.findLast((response) => response.typeUrl === types[short]),
  }
}

/** The responses among effects. */
export const sentBy = (effects: ReadonlyArray<SessionEffect>): ReadonlyArray<Response> =>
  effects.flatMap((effect) => (effect._tag === 'Send' ? [effect.response] : []))

/** The tags of effects, responses left out. */
export const notes = (stream: Pick<Stream, 'effects'>): ReadonlyArray<string> =>
  stream.effects().flatMap((effect) => (effect._tag === 'Send' ? [] : [effect._tag]))

export const refusal = { code: 13, message: 'refused' }

/** A stream on which each request says all that it wants, as a well-behaved client would write it. */
export interface SotwStream extends Stream {
  /** Asks for names on the newest nonce; fields may be put in the place of what is usual. */
  readonly ask: (
    short: Short,
    names?: string,
    fields?: Partial<SotwRequest>,
  ) => ReadonlyArray<string>
  /** Accepts the newest response, and asks for the same names or for others. */
  readonly ack: (short: Short, names?: string) => ReadonlyArray<string>
  /** Refuses the newest response, and asks for the same names or for others. */
  readonly nack: (short: Short, names?: string) => ReadonlyArray<string>
}

export const openSotw = (setup: Setup = {}): SotwStream => {
  const stream = openStream('sotw', setup.options, setup.memory)
  const namesOf = new Map<Short, string>()
  const accepted = new Map<Short, string>()
  let isFirst = true
  const ask: SotwStream['ask'] = (short, names = namesOf.get(short) ?? '', fields = {}) => {
    namesOf.set(short, names)
    const node = isFirst ? (setup.node ?? aNode) : undefined
    isFirst = false
    return stream.receive({
      _tag: 'Sotw',
      node,
      typeUrl: types[short],
      resourceNames: words(names),
      versionInfo: accepted.get(short) ?? '',
      responseNonce: stream.latest(short)?.nonce ?? '',
      errorDetail: undefined,
      ...fields,
    })
  }
  const ack: SotwStream['ack'] = (short, names) => {
    accepted.set(short, stream.latest(short)?.version ?? '')
    return ask(short, names)
  }
  return {
    ...stream,
    ask,
    ack,
    nack: (short, names) => ask(short, names, { errorDetail: refusal }),
  }
}

/** What a delta request changes, in short. */
export interface Change {
  readonly subscribe?: string
  readonly unsubscribe?: string
  /** Name → version that the client says it holds. */
  readonly initial?: Readonly<Record<string, string>>
}

export interface DeltaStream extends Stream {
  /** Asks on its own account, without a nonce; fields may be put in the place of what is usual. */
  readonly ask: (
    short: Short,
    change?: Change,
    fields?: Partial<DeltaRequest>,
  ) => ReadonlyArray<string>
  /** Accepts the newest response, and changes the subscription in the same message. */
  readonly ack: (short: Short, change?: Change) => ReadonlyArray<string>
  /** Refuses the newest response, and changes the subscription in the same message. */
  readonly nack: (short: Short, change?: Change) => ReadonlyArray<string>
}

export const openDelta = (setup: Setup = {}): DeltaStream => {
  const stream = openStream('delta', setup.options, setup.memory)
  let isFirst = true
  const ask: DeltaStream['ask'] = (short, change = {}, fields = {}) => {
    const node = isFirst ? (setup.node ?? aNode) : undefined
    isFirst = false
    return stream.receive({
      _tag: 'Delta',
      node,
      typeUrl: types[short],
      subscribe: words(change.subscribe ?? ''),
      unsubscribe: words(change.unsubscribe ?? ''),
      initialResourceVersions: new Map(Object.entries(change.initial ?? {})),
      responseNonce: '',
      errorDetail: undefined,
      ...fields,
    })
  }
  const answer = (short: Short): Pick<DeltaRequest, 'responseNonce'> => ({
    responseNonce: stream.latest(short)?.nonce ?? '',
  })
  return {
    ...stream,
    ask,
    ack: (short, change) => ask(short, change, answer(short)),
    nack: (short, change) => ask(short, change, { ...answer(short), errorDetail: refusal }),
  }
}

/** What both variants can do: subscribe to names from the start, accept, refuse. */
export interface AnyStream extends Stream {
  /** The first request of a type; without names it asks for everything. */
  readonly first: (short: Short, names?: string) => ReadonlyArray<string>
  readonly ack: (short: Short) => ReadonlyArray<string>
  readonly nack: (short: Short) => ReadonlyArray<string>
  /** Asks for more names, `all` being what it asks for then; the newest response is accepted. */
  readonly widen: (short: Short, added: string, all: string) => ReadonlyArray<string>
  /** Asks for less, `all` being what it asks for then; the newest response is accepted. */
  readonly narrow: (short: Short, dropped: string, all: string) => ReadonlyArray<string>
}

export const openAny = (variant: Variant, setup: Setup = {}): AnyStream => {
  if (variant === 'sotw') {
    const stream = openSotw(setup)
    return {
      ...stream,
      first: stream.ask,
      widen: (short, _added, all) => stream.ack(short, all),
      narrow: (short, _dropped, all) => stream.ack(short, all),
    }
  }
  const stream = openDelta(setup)
  return {
    ...stream,
    first: (short, names = '') => stream.ask(short, { subscribe: names }),
    widen: (short, added) => stream.ack(short, { subscribe: added }),
    narrow: (short, dropped) => stream.ack(short, { unsubscribe: dropped }),
  }
}
