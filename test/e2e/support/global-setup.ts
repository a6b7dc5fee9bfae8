import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { type SharedAddress, shareCluster } from '../cluster/share.js'
import { startCluster } from '../cluster/start-cluster.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** The one cluster of this run. */
    readonly cluster: SharedAddress
  }
}

/** What the project installs into a cluster before anything else. */
const crds = [join('deploy', 'crd.yaml')]

/** Where the logs of the last run's servers are kept. */
const keptLogs = join('.cache', 'e2e-logs')

/** Starts the cluster that all test files share, and returns what ends it. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  // Elsewhere the addresses of the tests' backends are somebody else's.
  if (process.env['EDGEWRIGHT_E2E_WORLD'] === undefined)
    throw new Error('these tests run in a world of their own: npm run test:e2e')
  const startedMs = performance.now()
  const cluster = await startCluster({ signal: new AbortController().signal, crds })
  const share = await shareCluster(cluster)
  project.provide('cluster', share.address)
  const tookMs = performance.now() - startedMs
  process.stdout.write(`The cluster is up after ${(tookMs / 1000).toFixed(1)} s.\n`)
  return async () => {
    await share.stop()
    rmSync(keptLogs, { recursive: true, force: true })
    cpSync(cluster.logDirectory, keptLogs, { recursive: true })
    await cluster.close()
  }
}
