import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { decodeEdgeRoute } from 'edgewright'
import { afterAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { envoyCacheDirectory, envoyVersion } from '../../src/host/cli/demo/envoy-binary.js'

const readme = readFileSync('README.md', 'utf8')

/** What the tarball has. */
const { files: packed } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly files: ReadonlyArray<string>
}

const blocks = (language: string): ReadonlyArray<string> =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, code = '']) => code.trim(),
  )

const folder = mkdtempSync(join(tmpdir(), 'edgewright-readme-'))
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

/** The commands that set a clone up are run by CI, as they stand here, on a clean checkout. */
const runByCi = ['npm ci && npm start -- --check', 'npm ci && npm test']

test('CI runs the commands that the README gives for setting up', () => {
  const ci = readFileSync('.ci/run', 'utf8')
  for (const command of runByCi) {
    expect(blocks('sh')).toContain(command)
    expect(ci).toContain(`'${command}'`)
  }
})

/** Those that need a cluster are run on one: test/e2e/readme.test.ts. */
const needsCluster = (command: string): boolean => command.startsWith('kubectl')

test.each(blocks('sh').filter((command) => !runByCi.includes(command) && !needsCluster(command)))(
  'the command works: %s',
  (command) => {
    const main = JSON.stringify(join(process.cwd(), 'dist/host/cli/main.js'))
    const here = command
      .replaceAll('npx edgewright', `node ${main}`)
      .replaceAll('> envoy.json', `> ${join(folder, 'envoy.json')}`)
    expect(here).not.toContain('npx')
    execFileSync('bash', ['-euo', 'pipefail', '-c', here], { stdio: 'pipe', timeout: 30_000 })
  },
)

test.each(blocks('yaml'))('the route is valid: %#', (text) => {
  expect(E.isRight(decodeEdgeRoute(parse(text)))).toBe(true)
})

test('an example brings all of its imports, and can fail', () => {
  for (const code of blocks('ts')) {
    expect(code).toMatch(/^import assert from 'node:assert\/strict'$/m)
    expect(code.replace(/^import .*$/gm, '')).toMatch(/\bassert\b/)
  }
})

test('the Envoy that the demo fetches lies where the README says', () => {
  expect(readme).toContain(`.cache/envoy/envoy-${envoyVersion}`)
  expect(envoyCacheDirectory({})).toBe(join(process.cwd(), '.cache', 'envoy'))
})

test.each(['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md'])(
  'what %s links to is in the package as well',
  (page) => {
    const links = [...readFileSync(page, 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)]
    for (const [, target = ''] of links) {
      expect(existsSync(target), target).toBe(true)
      expect(
        packed.some((path) => target === path || target.startsWith(`${path}/`)),
        target,
      ).toBe(true)
    }
  },
)

test('every code block is of a language whose blocks are run', () => {
  const languages = [...readme.matchAll(/^```(\w*)$/gm)].map(([, language = '']) => language)
  const fences = languages.filter((language) => language !== '')
  expect(fences.length * 2).toBe(languages.length)
  expect(new Set(fences)).toEqual(new Set(['sh', 'ts', 'yaml']))
})
