import type { MethodDefinition, ServerDuplexStream, UntypedHandleCall } from '@grpc/grpc-js'

/** One stream of the service: encoded requests in, encoded responses out. */
export type RawCall = ServerDuplexStream<Buffer, Buffer>

const identity = (bytes: Buffer): Buffer => bytes

const method = (name: string): MethodDefinition<Buffer, Buffer> => ({
  path: `/envoy.service.discovery.v3.AggregatedDiscoveryService/${name}`,
  requestStream: true,
  responseStream: true,
  requestSerialize: identity,
  requestDeserialize: identity,
  responseSerialize: identity,
  responseDeserialize: identity,
})

/** A type alias, since an interface is no `ServiceDefinition` to the compiler. */
type AggregatedDiscoveryService = {
  readonly StreamAggregatedResources: MethodDefinition<Buffer, Buffer>
  readonly DeltaAggregatedResources: MethodDefinition<Buffer, Buffer>
}

/**
 * Envoy's aggregated discovery service with bytes for messages.
 *
 * gRPC would decode a request before we see it, and end a stream with INTERNAL where that fails;
 * and would encode a response anew for each stream. So the codec stands on our side of gRPC.
 */
export const aggregatedDiscoveryService: AggregatedDiscoveryService = {
  StreamAggregatedResources: method('StreamAggregatedResources'),
  DeltaAggregatedResources: method('DeltaAggregatedResources'),
}

/** What serves each method of it. */
export type AggregatedDiscoveryHandlers = Readonly<
  Record<keyof AggregatedDiscoveryService, (call: RawCall) => void>
> &
  Record<string, UntypedHandleCall>
