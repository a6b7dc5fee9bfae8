import type { TypeUrl } from '../../../core/type-url.js'
import * as client from '../envoy/client/index.js'
import type { EnvoyEvent } from '../envoy/client/messages.js'
import {
  type Acked,
  type EnvoyOptions,
  type EnvoyState,
  type HeldResource,
  type Nacked,
} from '../envoy/client/state.js'
import type { Answer, Request } from '../envoy/routing/request.js'
import type { DiscoveryRequest } from '../../../core/xds/messages.js'

/** An Envoy that runs in memory, and is connected to a control plane in memory. */
export interface MemoryEnvoy {
  /** Answers a request with what this Envoy runs at the moment, connected or not. */
  readonly request: (request: Request) => Answer
  readonly held: () => Readonly<Record<TypeUrl, ReadonlyMap<string, HeldResource>>>
  readonly acked: () => ReadonlyArray<Acked>
  readonly nacked: () => ReadonlyArray<Nacked>
  /** Everything that there is to know of it. */
  readonly state: () => EnvoyState
  /** Breaks the stream: both ends know at once, and what is on its way is lost. */
  readonly disconnect: () => void
  /** Opens a new stream, breaking the present one if there is any. */
  readonly reconnect: () => void
  /** Dies, and comes back as a new process that holds nothing. */
  readonly restart: () => void
}

/** The one mutable cell of an Envoy: its state. */
export interface EnvoyCell {
  readonly state: () => EnvoyState
  /** Puts a new process in its place. */
  readonly restart: () => void
  /** Advances it, and returns what it sends. */
  readonly handle: (event: EnvoyEvent) => ReadonlyArray<DiscoveryRequest>
}

export const envoyCell = (options: EnvoyOptions): EnvoyCell => {
  let state = client.start(options)
  return {
    state: () => state,
    restart: () => {
      state = client.restarted(state)
    },
    handle: (event) => {
      const [next, effects] = client.step(state, event)
      state = next
      return effects.map(({ request }) => request)
    },
  }
}

/** An Envoy's face, on its cell and its connection. */
export const toEnvoy = (
  { state }: EnvoyCell,
  connection: Pick<MemoryEnvoy, 'disconnect' | 'reconnect' | 'restart'>,
): MemoryEnvoy => ({
  request: (request) => client.request(state(), request),
  held: () => client.held(state()),
  acked: () => client.acked(state()),
  nacked: () => client.nacked(state()),
  state,
  ...connection,
})
