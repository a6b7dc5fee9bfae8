import { type ChildProcess, spawn } from 'node:child_process'
import { DiscoveryRequest } from '../../src/gen/envoy/service/discovery/v3/discovery.js'
import { clusterType } from '../../src/core/type-url.js'
import { pathOf } from './raw-ads-client.js'
import { aNode } from './xds.js'

/**
 * Starts a process that opens a stream, asks for clusters, and then does nothing: it can be frozen
 * with SIGSTOP, which leaves its connection open and silent, as a lost host does.
 */
export const spawnClient = (port: number): ChildProcess => {
  const request = DiscoveryRequest.encode({ node: aNode, typeUrl: clusterType }).finish()
  const frame = Buffer.alloc(5 + request.length)
  frame.writeUInt32BE(request.length, 1)
  frame.set(request, 5)
  return spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { PORT: String(port), PATH_OF_STREAM: pathOf('sotw'), FRAME: frame.toString('hex') },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

const script = `
import { connect } from 'node:http2'
const { PORT, PATH_OF_STREAM, FRAME } = process.env
const session = connect('http://127.0.0.1:' + PORT)
session.on('error', () => process.exit())
const stream = session.request({
  ':method': 'POST',
  ':path': PATH_OF_STREAM,
  'content-type': 'application/grpc',
  te: 'trailers',
})
stream.on('error', () => undefined)
stream.resume()
stream.write(Buffer.from(FRAME, 'hex'))
`
