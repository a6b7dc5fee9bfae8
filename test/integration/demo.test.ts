import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { type CliProcess, installWith, spawnCli, type SpawnOptions } from '../support/cli.js'
import { envoyBinary, eventually, request } from '../support/envoy.js'

const cleanups: Array<() => Promise<void> | void> = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const temporaryDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'edgewright-test-'))
  cleanups.push(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** Runs the demo with a temporary directory of its own, in which nothing may be left. */
const demo = (options: SpawnOptions, ...argv: ReadonlyArray<string>) => {
  const directory = temporaryDirectory()
  const env = { ...options.env, TMPDIR: directory }
  const cli = spawnCli(['demo', ...argv], { ...options, env })
  cleanups.push(cli.dispose)
  return { ...cli, directory }
}

const withRealEnvoy = async (): Promise<SpawnOptions> => ({
  env: { ENVOY_BIN: (await envoyBinary()).path },
})

/**
 * Installed outside of a checkout, with no Envoy on the PATH, and no Python that could fetch one.
 */
const withoutEnvoy = (): SpawnOptions => ({
  ...installWith(temporaryDirectory(), ['fp-ts', 'io-ts', 're2js', '@bufbuild', 'yaml']),
  env: {
    PATH: '/nonexistent',
    ENVOY_BIN: '',
    XDG_CACHE_HOME: temporaryDirectory(),
  },
})

/** Where a running demo answers, once it does. */
const urlOf = async ({ out }: CliProcess): Promise<string> => {
  const text = await eventually(out, (seen) => seen.includes('Ctrl-C'))
  return /curl (http:\/\/\S+)\/shop/.exec(text)?.[1] ?? ''
}

/** The Envoys that have a file in this directory open as their configuration. */
const envoysOf = (directory: string): ReadonlyArray<string> =>
  readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandOf(pid).includes(directory))

const commandOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

describe('with a real Envoy', () => {
  test('the check goes through all steps, exits with 0, and leaves nothing behind', async () => {
    const { finished, directory } = demo(await withRealEnvoy(), '--check')
    const { code, out, err } = await finished
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const { version, path } = await envoyBinary()
    expect(out).toContain(`${version} from ENVOY_BIN: ${path}`)
    expect(out).toContain('GET /shop: 200 from shop')
    expect(out).toContain('GET /shop: 404')
    expect(out).toMatch(/GET \/blog: 200 from blog, \d+ times meanwhile/)
    expect(out).not.toContain('NO REAL')
    expect(readdirSync(directory)).toEqual([])
    expect(envoysOf(directory)).toEqual([])
  })

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'what it says to try works, and %s ends it with all that it started',
    async (signal) => {
      const running = demo(await withRealEnvoy())
      const { child, finished, directory } = running
      const url = await urlOf(running)
      const answers = (path: string, status: number): Promise<unknown> =>
        eventually(
          () => request(url + path),
          (answer) => answer.status === status,
        )
      const follow = (command: RegExp): void =>
        void execFileSync('sh', ['-c', command.exec(running.out())?.[0] ?? 'exit 1'])
      await answers('/shop', 200)
      follow(/sed .*/)
      await answers('/store', 200)
      follow(/rm .*/)
      await answers('/shop', 404)
      await answers('/store', 200)
      expect(envoysOf(directory)).toHaveLength(1)
      child.kill(signal)
      const { code, out } = await finished
      expect(code).toBe(0)
      expect(out.trim().split('\n').at(-1)).toMatch(/^Stopped/)
      expect(readdirSync(directory)).toEqual([])
      expect(envoysOf(directory)).toEqual([])
    },
  )

  test('an Envoy that ends by itself ends the demo, with its log', async () => {
    const running = demo(await withRealEnvoy())
    await urlOf(running)
    for (const pid of envoysOf(running.directory)) process.kill(Number(pid), 'SIGKILL')
    const { code, err } = await running.finished
    expect(code).toBe(1)
    expect(err).toContain('Envoy has ended: SIGKILL')
    expect(readdirSync(running.directory)).toEqual([])
  })
})

describe('without any Envoy', () => {
  test('one that ENVOY_BIN names in vain is an error, not a reason to take another one', async () => {
    const { env, ...options } = withoutEnvoy()
    const named = { ...options, env: { ...env, ENVOY_BIN: '/nonexistent/envoy' } }
    const { finished, directory } = demo(named, '--check')
    const { code, out, err } = await finished
    expect(code).toBe(1)
    expect(err).toContain('ENVOY_BIN=/nonexistent/envoy is no Envoy that runs here')
    expect(out).not.toContain('NO REAL')
    expect(readdirSync(directory)).toEqual([])
  })

  test('the check says plainly that no real Envoy took part, why, and does the same steps', async () => {
    const { finished, directory } = demo(withoutEnvoy(), '--check')
    const { code, out } = await finished
    expect(code).toBe(0)
    expect(out).toContain('NO REAL ENVOY takes part')
    expect(out).toContain('ENVOY_BIN is not set')
    expect(out).toContain('GET /shop: 404')
    expect(out).toMatch(/GET \/blog: 200 from blog, \d+ times meanwhile/)
    expect(readdirSync(directory)).toEqual([])
  })
})
