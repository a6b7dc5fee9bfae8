import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { bootstrap, type HostPort } from '../../src/host/bootstrap.js'
import {
  type EnvoyBinary,
  envoyCacheDirectory,
  findEnvoy,
} from '../../src/host/cli/demo/envoy-binary.js'
import { type EnvoyProcess, startEnvoy } from '../../src/host/cli/demo/envoy-process.js'
import { get, type HttpAnswer } from '../../src/host/cli/demo/http.js'

let found: Promise<EnvoyBinary> | undefined

/**
 * The real Envoy of this machine, fetched if need be. Rejects, and says why, where there is none.
 */
export const envoyBinary = (): Promise<EnvoyBinary> => (found ??= find())

const find = async (): Promise<EnvoyBinary> => {
  const result = await findEnvoy({
    env: process.env,
    cacheDirectory: envoyCacheDirectory(process.env),
    say: (line) => process.stderr.write(`${line}\n`),
    signal: new AbortController().signal,
  })
  if (E.isLeft(result)) throw new Error(`no Envoy to test with: ${result.left.join('; ')}`)
  return result.right
}

export interface TestEnvoyOptions {
  /** Where the control plane listens. */
  readonly xds: HostPort
  readonly variant: 'delta' | 'sotw'
  /** A name of its own is made if absent. */
  readonly id?: string
  readonly dataPlane?: string
  readonly concurrency?: number
  readonly maxConnections?: number
  readonly logLevel?: string
  /** What to wait for; `live` if absent, which needs a control plane that has published. */
  readonly until?: 'live' | 'admin'
  /** How long it drains connections of what it no longer listens with, in seconds; 600 if absent. */
  readonly drainSeconds?: number
  /** Changes the bootstrap before it is written. */
  readonly change?: (made: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>
}

export interface TestEnvoy extends EnvoyProcess {
  readonly id: string
  /** The value of a counter or gauge, `undefined` where there is no such one. */
  readonly stat: (name: string) => Promise<number | undefined>
  /** `/config_dump`, with endpoints, as parsed JSON. */
  readonly configDump: () => Promise<unknown>
  /** The listeners by name, as `host:port`. */
  readonly listeners: () => Promise<ReadonlyMap<string, string>>
}

let count = 0

/**
 * Starts an Envoy with our own bootstrap. Stop it in a `finally` or `afterEach`: it removes its
 * files, too.
 */
export const startTestEnvoy = async (options: TestEnvoyOptions): Promise<TestEnvoy> => {
  const { path } = await envoyBinary()
  const directory = await mkdtemp(join(tmpdir(), 'edgewright-envoy-'))
  const id = options.id ?? `test-${process.pid}-${(count += 1)}`
  const made = bootstrap({ ...options, id, admin: { host: '127.0.0.1', port: 0 } })
  const removeFiles = (): Promise<void> => rm(directory, { recursive: true, force: true })
  try {
    const envoy = await startEnvoy({
      path: await withDrain(path, directory, options.drainSeconds),
      directory,
      bootstrap: options.change?.(made) ?? made,
      ...(options.concurrency === undefined ? {} : { concurrency: options.concurrency }),
      ...(options.logLevel === undefined ? {} : { logLevel: options.logLevel }),
      ...(options.until === undefined ? {} : { until: options.until }),
    })
    return withViews(envoy, id, removeFiles)
  } catch (cause) {
    await removeFiles()
    throw cause
  }
}

/** A binary that drains so long: only a flag can say it, so a script stands before the real one. */
const withDrain = async (
  path: string,
  directory: string,
  seconds: number | undefined,
): Promise<string> => {
  if (seconds === undefined) return path
  const script = join(directory, 'envoy.sh')
  await writeFile(script, `#!/bin/sh\nexec '${path}' "$@" --drain-time-s ${seconds}\n`, {
    mode: 0o755,
  })
  return script
}

const withViews = (
  envoy: EnvoyProcess,
  id: string,
  removeFiles: () => Promise<void>,
): TestEnvoy => ({
  ...envoy,
  id,
  stop: async () => {
    await envoy.stop()
    await removeFiles()
  },
  stat: async (name) => {
    const lines = (await envoy.admin(`/stats?filter=^${name.replaceAll('.', '\\.')}$`)).split('\n')
    const line = lines.find((each) => each.startsWith(`${name}: `))
    return line === undefined ? undefined : Number(line.slice(name.length + 2))
  },
  configDump: async () => JSON.parse(await envoy.admin('/config_dump?include_eds')) as unknown,
  listeners: async () => {
    const lines = (await envoy.admin('/listeners')).split('\n').filter((line) => line !== '')
    return new Map(
      lines.map((line) => {
        const at = line.indexOf('::')
        return [line.slice(0, at), line.slice(at + 2)]
      }),
    )
  },
})

/** A TCP port of 127.0.0.1 that nobody listens on at the moment. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })

/** GETs a URL; see `eventually` for waiting. */
export const request = (
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpAnswer> => get(url, { headers })

/** How often a condition is looked at. */
const pollMs = 20

/**
 * Waits until `look` returns something that `holds`, and returns it; rejects with what it saw last
 * after `withinMs`. What `look` throws counts as "not yet".
 */
export const eventually = async <A>(
  look: () => Promise<A> | A,
  holds: (seen: A) => boolean,
  withinMs = 10_000,
): Promise<A> => {
  const end = Date.now() + withinMs
  let last: unknown
  do {
    try {
      const seen = await look()
      if (holds(seen)) return seen
      last = seen
    } catch (cause) {
      last = cause
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  } while (Date.now() < end)
  const shown = last instanceof Error ? last.message : JSON.stringify(last)
  throw new Error(`not so within ${withinMs} ms; last seen: ${shown}`)
}
