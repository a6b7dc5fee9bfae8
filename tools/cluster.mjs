// Starts a Kubernetes API server with etcd behind it, to try things out, until it is asked to end:  npm run cluster
// It has no nodes, so that no Pod runs: the control plane and Envoys run beside it. It is the one that test/e2e uses.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))

const fail = (reason) => {
  console.error(`cluster: ${reason}`)
  process.exit(1)
}

/** The folder with the servers: they are built once, unless somebody says where they are. */
const binaries = () => {
  const given = process.env.EDGEWRIGHT_CLUSTER_BIN
  if (given !== undefined) return given
  const needed = ['bash', 'flock', 'go', 'kubectl', 'openssl']
  const folders = (process.env.PATH ?? '').split(delimiter)
  const isThere = (name) => folders.some((folder) => existsSync(join(folder, name)))
  const missing = needed.filter((name) => !isThere(name))
  if (missing.length > 0) fail(`not on the PATH: ${missing.join(', ')}`)
  try {
    const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }
    return execFileSync(here('../test/e2e/cluster/build.sh'), options).trim()
  } catch {
    return fail('there is no API server to start')
  }
}

/** What tests start it with, which is TypeScript. */
const loadStartCluster = async () => {
  const input = here('../test/e2e/cluster/start-cluster.ts')
  const bundle = await rolldown({ input, platform: 'node', external: [/^node:/] })
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false })
  await bundle.close()
  const { startCluster } = await import(
    `data:text/javascript,${encodeURIComponent(output[0].code)}`
  )
  return startCluster
}

const stopping = new globalThis.AbortController()
const stopped = new Promise((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => {
      stopping.abort()
      resolve()
    })
})

const folder = binaries()
const startCluster = await loadStartCluster()
const cluster = await startCluster({ signal: stopping.signal, binaries: folder }).catch((cause) =>
  stopping.signal.aborted ? process.exit(0) : fail(cause.message),
)
console.log(`A Kubernetes API server is up, without nodes. In another terminal:

  export KUBECONFIG='${cluster.kubeconfig}'

It ends with Ctrl-C, and with it all that is in it.`)
await stopped
await cluster.close()
process.exit(0)
