import { compareStrings } from '../../../../core/order.js'
import { isFullState, type TypeUrl } from '../../../../core/type-url.js'
import type { DiscoveryRequest, ErrorDetail } from '../../../../core/xds/messages.js'
import type { EnvoyState } from './state.js'

/** The first request of a type on a stream. */
export const firstRequest = (
  { options, watches }: EnvoyState,
  typeUrl: TypeUrl,
): DiscoveryRequest => {
  const { names, version, reported } = watches[typeUrl]
  return options.variant === 'sotw'
    ? sotw(typeUrl, { resourceNames: sorted(names), versionInfo: version })
    : delta(typeUrl, {
        subscribe: isFullState(typeUrl) && options.wildcard === 'star' ? ['*'] : sorted(names),
        initialResourceVersions: reported,
      })
}

/** Says that the names of interest have changed; in the state of the world it repeats them all. */
export const changeRequest = (
  state: EnvoyState,
  typeUrl: TypeUrl,
  added: ReadonlyArray<string>,
  dropped: ReadonlyArray<string>,
): DiscoveryRequest =>
  state.options.variant === 'sotw'
    ? currentRequest(state, typeUrl, undefined)
    : delta(typeUrl, { subscribe: sorted(added), unsubscribe: sorted(dropped) })

/** Accepts or refuses a response: with the state of the world the last one. */
export const answerRequest = (
  state: EnvoyState,
  typeUrl: TypeUrl,
  nonce: string,
  message: string | undefined,
): DiscoveryRequest => {
  const errorDetail = message === undefined ? undefined : { code: internalError, message }
  return state.options.variant === 'sotw'
    ? currentRequest(state, typeUrl, errorDetail)
    : delta(typeUrl, { responseNonce: nonce, errorDetail })
}

/** The gRPC status code in every refusal of Envoy. */
const internalError = 13

/** All names, with the last nonce and the last accepted version. */
const currentRequest = (
  { watches }: EnvoyState,
  typeUrl: TypeUrl,
  errorDetail: ErrorDetail | undefined,
): DiscoveryRequest => {
  const { names, nonce, version } = watches[typeUrl]
  return sotw(typeUrl, {
    resourceNames: sorted(names),
    versionInfo: version,
    responseNonce: nonce,
    errorDetail,
  })
}

type Sotw = Extract<DiscoveryRequest, { readonly _tag: 'Sotw' }>
type Delta = Extract<DiscoveryRequest, { readonly _tag: 'Delta' }>

const sotw = (typeUrl: TypeUrl, fields: Partial<Sotw>): Sotw => ({
  _tag: 'Sotw',
  node: undefined,
  typeUrl,
  resourceNames: [],
  versionInfo: '',
  responseNonce: '',
  errorDetail: undefined,
  ...fields,
})

const delta = (typeUrl: TypeUrl, fields: Partial<Delta>): Delta => ({
  _tag: 'Delta',
  node: undefined,
  typeUrl,
  subscribe: [],
  unsubscribe: [],
  initialResourceVersions: new Map(),
  responseNonce: '',
  errorDetail: undefined,
  ...fields,
})

const sorted = (names: Iterable<string>): ReadonlyArray<string> => [...names].sort(compareStrings)
