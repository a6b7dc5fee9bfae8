import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { decodeEdgeRoute } from 'edgewright'
import { afterAll, expect, test } from 'vitest'
import { parse } from 'yaml'

const readme = readFileSync('README.md', 'utf8')

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

test.each(blocks('sh').filter((command) => !runByCi.includes(command)))(
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

test('every code block is of a language whose blocks are run', () => {
  const languages = [...readme.matchAll(/^```(\w*)$/gm)].map(([, language = '']) => language)
  const fences = languages.filter((language) => language !== '')
  expect(fences.length * 2).toBe(languages.length)
  expect(new Set(fences)).toEqual(new Set(['sh', 'ts', 'yaml']))
})
