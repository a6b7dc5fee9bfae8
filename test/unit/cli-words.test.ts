import { execFileSync } from 'node:child_process'
import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as E from 'fp-ts/lib/Either.js'
import {
  printable,
  shellWord,
  showAge,
  showJson,
  showName,
} from '../../src/host/cli/admin/words.js'
import { readLine } from '../../src/host/cli/read-line.js'
import { parseForgetAfter } from '../../src/host/cli/values.js'

/** Half of the characters are ones that a terminal acts on, or that a shell or JSON reads. */
const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      '\u001b',
      '\u0085',
      '\u009b',
      '\u202e',
      '\u2028',
      '\n',
      '\t',
      "'",
      '"',
      '\\',
      ' ',
    ),
    fc.constantFrom('$', '`', '!', '-', '%', '\u{e0001}', '😀', 'a'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  ),
})

const acting = /[\p{C}\p{Zl}\p{Zp}]/u

describe('what a terminal gets', () => {
  test('no name holds a character that a terminal acts on', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(printable(text)).not.toMatch(acting)
        expect(showName(text)).not.toMatch(acting)
      }),
    )
  })

  test('a name that could be two words, or none, is in quotes; any other is as it is', () => {
    for (const name of ['envoy-1', 'a/b', 'ünïcode', '😀']) expect(showName(name)).toBe(name)
    for (const name of ['', ' ', 'a b', 'a, b', "it's", 'a (b)'])
      expect(showName(name)).toMatch(/^".*"$/)
  })

  test('JSON is as safe, and is still the same JSON', () => {
    fc.assert(
      fc.property(anyText, anyText, (key, text) => {
        const value = { [`k${key}`]: [text] }
        const shown = showJson(value)
        expect(shown.replaceAll('\n', '')).not.toMatch(acting)
        expect(JSON.parse(shown)).toEqual(value)
      }),
    )
  })

  test('a word for a shell is one argument, the text itself', () => {
    const texts = fc
      .sample(anyText, { numRuns: 100, seed: 1 })
      .filter((text) => !text.includes('\0') && !/\p{Cs}/u.test(text))
    expect(texts.length).toBeGreaterThan(50)
    expect(texts.map(shellWord).join(' ')).not.toMatch(acting)
    const script = `printf '%s\\0' ${texts.map(shellWord).join(' ')}`
    const out = execFileSync('bash', ['--noprofile', '--norc', '-c', script], {
      encoding: 'utf8',
      env: { LC_ALL: 'C.UTF-8', SHLVL: '1' },
    })
    expect(out.split('\0').slice(0, -1)).toEqual(texts)
  })
})

test.each([
  [0, '0s'],
  [999, '0s'],
  [1_000, '1s'],
  [60_000, '1m'],
  [61_500, '1m1s'],
  [3_600_000, '1h'],
  [3_605_000, '1h'],
  [7_260_000, '2h1m'],
  [90_000_000, '1d1h'],
  [-5_000, '0s'],
])('%i ms are %s', (ms, age) => {
  expect(showAge(new Date(0).toISOString(), new Date(ms).toISOString())).toBe(age)
})

describe('how long a lost Envoy counts', () => {
  test.each([
    ['never', undefined],
    ['90s', 90_000],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['72h', 259_200_000],
    ['72h30m', 261_000_000],
    ['8784h', 31_622_400_000],
  ])('%s is %s ms', (text, ms) => {
    expect(parseForgetAfter('--after', text)).toEqual(E.right(ms))
  })

  test.each(['0', '0s', '0h', '', '72', '-1h', '3d', '8785h', '8784h1s', '72h1', 'Never', '72hx'])(
    '%j is refused, and the option is named',
    (text) => {
      const parsed = parseForgetAfter('--after', text)
      expect(E.isLeft(parsed) && parsed.left).toMatch(/^--after /)
    },
  )
})

describe('readLine', () => {
  const never = new AbortController().signal
  const fed = (...chunks: ReadonlyArray<string | Buffer>): PassThrough => {
    const input = new PassThrough()
    for (const chunk of chunks) input.write(chunk)
    return input
  }

  test.each([
    [['a\nb\n'], 'a'],
    [['sh', 'op/', 'a\n'], 'shop/a'],
    [['\n'], ''],
    [[Buffer.from([0xc3]), Buffer.from([0xbc, 0x0a])], 'ü'],
  ])('of %j the first line is %j', async (chunks, line) => {
    expect(await readLine(fed(...chunks), never)).toBe(line)
  })

  test('what has no end counts where the input ends, if there is anything', async () => {
    const input = fed('a')
    input.end()
    expect(await readLine(input, never)).toBe('a')
    const empty = fed()
    empty.end()
    expect(await readLine(empty, never)).toBe(undefined)
  })

  test('a line of more than its bound is none', async () => {
    expect(await readLine(fed('a'.repeat(5_000)), never)).toBe(undefined)
  })

  test('an interruption, or an input that fails, is no line', async () => {
    const stop = new AbortController()
    const waiting = readLine(fed('shop/a'), stop.signal)
    stop.abort()
    expect(await waiting).toBe(undefined)
    expect(await readLine(fed('a\n'), stop.signal)).toBe(undefined)
    const failing = fed()
    const line = readLine(failing, never)
    failing.destroy(new Error('gone'))
    expect(await line).toBe(undefined)
  })
})
