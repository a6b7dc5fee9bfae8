import { BinaryReader } from '@bufbuild/protobuf/wire'
import * as E from 'fp-ts/lib/Either.js'
import type {
  BuildVersion,
  DiscoveryRequest,
  ErrorDetail,
  NodeIdentity,
  Variant,
} from '../../core/xds/messages.js'
import type { Node } from '../../gen/envoy/config/core/v3/base.js'
import {
  DeltaDiscoveryRequest as DeltaMessage,
  DiscoveryRequest as SotwMessage,
} from '../../gen/envoy/service/discovery/v3/discovery.js'
import type { Status } from '../../gen/google/rpc/status.js'

/**
 * Reads a request. A left says what is wrong with the bytes; nothing that a client can send throws.
 *
 * Fields that we do not know are passed over, as protobuf wants it. Costs one pass over the bytes.
 */
export const decodeRequest = (
  variant: Variant,
  bytes: Uint8Array,
): E.Either<string, DiscoveryRequest> =>
  E.tryCatch(
    () => (variant === 'sotw' ? decodeSotw(bytes) : decodeDelta(bytes)),
    (cause) => (cause instanceof Error ? cause.message : String(cause)),
  )

const decodeSotw = (bytes: Uint8Array): DiscoveryRequest => {
  const message = decodeWhole(SotwMessage, bytes)
  return {
    _tag: 'Sotw',
    node: nodeIdentity(message.node),
    typeUrl: message.typeUrl ?? '',
    resourceNames: message.resourceNames ?? [],
    versionInfo: message.versionInfo ?? '',
    responseNonce: message.responseNonce ?? '',
    errorDetail: errorDetail(message.errorDetail),
  }
}

const decodeDelta = (bytes: Uint8Array): DiscoveryRequest => {
  const message = decodeWhole(DeltaMessage, bytes)
  return {
    _tag: 'Delta',
    node: nodeIdentity(message.node),
    typeUrl: message.typeUrl ?? '',
    subscribe: message.resourceNamesSubscribe ?? [],
    unsubscribe: message.resourceNamesUnsubscribe ?? [],
    initialResourceVersions: new Map(Object.entries(message.initialResourceVersions ?? {})),
    responseNonce: message.responseNonce ?? '',
    errorDetail: errorDetail(message.errorDetail),
  }
}

/**
 * The generated decoder stops at a tag of zero without a word; what lies behind it must not be
 * lost.
 */
const decodeWhole = <A>(
  codec: { readonly decode: (reader: BinaryReader) => A },
  bytes: Uint8Array,
): A => {
  const reader = new BinaryReader(bytes)
  const message = codec.decode(reader)
  if (reader.pos !== reader.len) throw new Error(`not a protobuf message after byte ${reader.pos}`)
  return message
}

const nodeIdentity = (node: Node | undefined): NodeIdentity | undefined => {
  if (node === undefined) return undefined
  const identity = { id: node.id ?? '', cluster: node.cluster ?? '' }
  const buildVersion = buildVersionOf(node)
  return buildVersion === undefined ? identity : { ...identity, buildVersion }
}

const buildVersionOf = ({ userAgentVersionType }: Node): BuildVersion | undefined => {
  if (userAgentVersionType?.$case !== 'userAgentBuildVersion') return undefined
  const { version } = userAgentVersionType.value
  return version === undefined
    ? undefined
    : {
        major: version.majorNumber ?? 0,
        minor: version.minorNumber ?? 0,
        patch: version.patch ?? 0,
      }
}

const errorDetail = (status: Status | undefined): ErrorDetail | undefined =>
  status === undefined ? undefined : { code: status.code ?? 0, message: status.message ?? '' }
