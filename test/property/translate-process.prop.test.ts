import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface, type Interface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { serialize } from 'node:v8'
import { test } from '@fast-check/vitest'
import { afterAll, beforeAll, expect } from 'vitest'
import { translate } from '../../src/core/translate.js'
import type { World } from '../support/oracle.js'
import { fingerprint } from '../support/oracle/content.js'
import { world } from '../support/oracle/world.js'

/** One process for all inputs; it runs the built package, so this needs `npm run build` first. */
const childPath = fileURLToPath(new URL('../support/translate-child.mjs', import.meta.url))

let child: ChildProcessWithoutNullStreams
let lines: Interface
let died: Promise<ReadonlyArray<unknown>>

beforeAll(() => {
  child = spawn(process.execPath, [childPath])
  lines = createInterface({ input: child.stdout })
  let complaints = ''
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()))
  // A write to a process that has died fails; what it said is in the comparison then.
  child.stdin.on('error', () => undefined)
  died = once(child, 'close').then(() => [`the other process has died: ${complaints}`])
})

afterAll(async () => {
  child.stdin.end()
  await died
})

const fingerprintElsewhere = async ({ routes, context }: World): Promise<unknown> => {
  const answered: Promise<ReadonlyArray<unknown>> = once(lines, 'line')
  // Not as JSON, which has neither NaN nor maps.
  child.stdin.write(`${serialize([routes, context]).toString('base64')}\n`)
  const [line] = await Promise.race([answered, died])
  return line
}

test.prop([world], { numRuns: 1000 })(
  'the same input gives the same bytes, versions and verdicts in another process',
  async (one) => {
    const elsewhere = await fingerprintElsewhere(one)
    expect(elsewhere).toBe(fingerprint(translate(one.routes, one.context)))
  },
)
