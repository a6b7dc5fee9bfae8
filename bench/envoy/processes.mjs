import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bootstrap } from '../../dist/host/bootstrap.js'
import { envoyCacheDirectory, findEnvoy } from '../../dist/host/cli/demo/envoy-binary.js'
import { startEnvoy } from '../../dist/host/cli/demo/envoy-process.js'
import { once } from '../lab.mjs'

/** The real Envoy of this machine, fetched if need be. Rejects, and says why, where there is none. */
const binary = once(async () => {
  const found = await findEnvoy({
    env: process.env,
    cacheDirectory: envoyCacheDirectory(process.env),
    say: console.error,
    signal: new globalThis.AbortController().signal,
  })
  if (found._tag === 'Left') throw new Error(`no Envoy to measure: ${found.left.join('; ')}`)
  return found.right
})

export const envoyVersion = async () => (await binary()).version

/** Starts an Envoy with one worker; `stop` takes its files away, too. */
const start = async (config) => {
  const { path } = await binary()
  const directory = await mkdtemp(join(tmpdir(), 'edgewright-bench-'))
  const removeFiles = () => rm(directory, { recursive: true, force: true })
  try {
    const envoy = await startEnvoy({ path, directory, bootstrap: config, concurrency: 1 })
    return { ...envoy, stop: () => envoy.stop().then(removeFiles) }
  } catch (cause) {
    await removeFiles()
    throw cause
  }
}

const anyPort = { host: '127.0.0.1', port: 0 }

/** An Envoy that takes its configuration from the control plane on this port; it is live when this resolves. */
export const startEdge = (port) =>
  start(
    bootstrap({ xds: { host: '127.0.0.1', port }, variant: 'delta', id: 'bench', admin: anyPort }),
  )

/** An Envoy that answers every request on every address by itself; `port` is where. */
export const startUpstream = async () => {
  const port = await freePort()
  const envoy = await start({
    admin: { address: { socket_address: { address: '127.0.0.1', port_value: 0 } } },
    static_resources: { listeners: [answering(port)] },
  })
  return { ...envoy, port }
}

const hcm = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager'
const router = 'envoy.extensions.filters.http.router.v3.Router'

const answering = (port) => ({
  address: { socket_address: { address: '0.0.0.0', port_value: port } },
  filter_chains: [
    {
      filters: [
        {
          name: 'hcm',
          typed_config: {
            '@type': `type.googleapis.com/${hcm}`,
            stat_prefix: 'upstream',
            route_config: {
              virtual_hosts: [
                {
                  name: 'all',
                  domains: ['*'],
                  routes: [
                    {
                      match: { prefix: '/' },
                      direct_response: { status: 200, body: { inline_string: 'x' } },
                    },
                  ],
                },
              ],
            },
            http_filters: [
              { name: 'router', typed_config: { '@type': `type.googleapis.com/${router}` } },
            ],
          },
        },
      ],
    },
  ],
})

/** A TCP port of 127.0.0.1 that nobody listens on at the moment. */
export const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer().on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
