// Stands between Envoys and a control plane, in a process of its own, and passes on the bytes of every
// message as they are. Tells its parent of each, with the time by the clock of the machine (CLOCK_MONOTONIC).
// Arguments: the port of the control plane on 127.0.0.1.
import { Client, credentials, Metadata, Server, ServerCredentials } from '@grpc/grpc-js'

const [target] = process.argv.slice(2)
const pass = (bytes) => bytes
const names = ['StreamAggregatedResources', 'DeltaAggregatedResources']
const pathOf = (name) => `/envoy.service.discovery.v3.AggregatedDiscoveryService/${name}`
const nowMs = () => Number(process.hrtime.bigint()) / 1e6
const tell = (message) => process.send({ ...message, atMs: nowMs() })

let streams = 0
// Of each stream and type only the first response is passed on.
let isCurt = false

process.on('message', (message) => {
  isCurt = message.isCurt
  process.send({ tag: 'Set' })
})

const serve = (name) => (call) => {
  const stream = (streams += 1)
  const variant = name.startsWith('Delta') ? 'delta' : 'sotw'
  const client = new Client(`127.0.0.1:${target}`, credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
  })
  const upstream = client.makeBidiStreamRequest(pathOf(name), pass, pass, new Metadata())
  let open = true
  const end = () => {
    if (!open) return
    open = false
    tell({ tag: 'Closed', stream })
    upstream.cancel()
    call.end()
    client.close()
  }
  const seen = new Set()
  tell({ tag: 'Opened', stream, variant })
  call.on('data', (bytes) => {
    tell({ tag: 'Request', stream, variant, bytes: bytes.toString('base64') })
    upstream.write(bytes)
  })
  upstream.on('data', (bytes) => {
    const typeUrl =
      /type\.googleapis\.com\/[\w.]+\.(Cluster|ClusterLoadAssignment|Listener|RouteConfiguration)\b/.exec(
        bytes.toString('latin1'),
      )
    // A type without resources is named by the field behind them, and counts all the same.
    const isPassed = !isCurt || !seen.has(typeUrl?.[0])
    seen.add(typeUrl?.[0])
    if (!isPassed) return
    tell({ tag: 'Response', stream, variant, bytes: bytes.toString('base64') })
    call.write(bytes)
  })
  for (const side of [call, upstream])
    for (const event of ['error', 'end', 'close', 'cancelled']) side.on(event, end)
}

const server = new Server({
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
})
server.addService(
  Object.fromEntries(
    names.map((name) => [
      name,
      {
        path: pathOf(name),
        ...{ requestStream: true, responseStream: true },
        ...{ requestSerialize: pass, requestDeserialize: pass },
        ...{ responseSerialize: pass, responseDeserialize: pass },
      },
    ]),
  ),
  Object.fromEntries(names.map((name) => [name, serve(name)])),
)
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error
  tell({ tag: 'Listening', port })
})
process.on('disconnect', () => process.exit(0))
