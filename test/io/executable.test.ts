import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { packageRoot } from '../../src/host/cli/package.js'

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>
}

const { scripts } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as Manifest

test('a program that was just written is executable by everybody once the build has ended', () => {
  const root = mkdtempSync(join(tmpdir(), 'edgewright-executable-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  mkdirSync(join(root, 'dist'))
  writeFileSync(join(root, 'dist', 'main.js'), '#!/usr/bin/env node\n', { mode: 0o644 })
  const manifest = { bin: { program: './dist/main.js' } }
  writeFileSync(join(root, 'package.json'), JSON.stringify(manifest))
  const [last = ''] = scripts['build']?.split(' && ').slice(-1) ?? []
  expect(last).toMatch(/^node tools\/[\w-]+\.mjs$/)
  const [node = '', tool = ''] = last.split(' ')
  execFileSync(node, [join(packageRoot, tool), root])
  expect(statSync(join(root, 'dist', 'main.js')).mode & 0o777).toBe(0o755)
})
