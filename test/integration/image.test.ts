import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'

const run = promisify(execFile)
/** It fetches some hundred packages. */
const makesWithinMs = 180_000

let directory: string

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'edgewright-image-'))
  await run('node', ['tools/make-image-root.mjs', directory], { timeout: makesWithinMs })
}, makesWithinMs)

afterAll(() => rmSync(directory, { recursive: true, force: true }))

test('what the container image holds runs by itself, and has all that serving a cluster takes', async () => {
  const main = join(directory, 'dist/host/cli/main.js')
  const { stdout } = await run('node', [main, 'check', 'examples/routes'])
  expect(stdout).toMatch(/\d+ routes can be served/)
  const help = await run('node', [main, 'serve', '--help'])
  expect(help.stdout).toContain('--kubernetes')
  for (const used of ['@grpc/grpc-js', '@kubernetes/client-node', 'yaml', 'fp-ts', 'io-ts'])
    expect(existsSync(join(directory, 'node_modules', used))).toBe(true)
})

test('what is used for development alone is not in it', () => {
  for (const unused of ['typescript', 'vitest', 'eslint', 'fast-check', 'ts-proto'])
    expect(existsSync(join(directory, 'node_modules', unused))).toBe(false)
})

test('its Dockerfile runs on the version of Node that is supported, and as nobody', () => {
  const dockerfile = readFileSync('Dockerfile', 'utf8')
  expect(dockerfile).toContain('tools/make-image-root.mjs')
  expect(dockerfile).toMatch(/^USER 1000:1000$/m)
  const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base)
  expect(new Set(bases).size).toBe(1)
})
