import { jsonLogger, textLogger } from 'edgewright/host'
import { expect, test } from 'vitest'

const nowMs = (): number => Date.UTC(2026, 0, 2, 3, 4, 5, 6)
const time = '2026-01-02T03:04:05.006Z'

const lines = (): { readonly written: Array<string>; readonly write: (line: string) => void } => {
  const written: Array<string> = []
  return { written, write: (line) => void written.push(line) }
}

test('a line of text holds time, level, message and the fields that are there', () => {
  const { written, write } = lines()
  textLogger(write, { nowMs }).log('info', 'published', { routes: 2, ok: true, node: undefined })
  expect(written).toEqual([`${time} info  published routes=2 ok=true`])
})

test('a value that could be misread stands in quotes', () => {
  const { written, write } = lines()
  const { log } = textLogger(write, { nowMs })
  log('warn', 'm', { a: 'two words', b: 'x=y', c: 'say "x"', d: '', e: 'plain' })
  expect(written).toEqual([`${time} warn  m a="two words" b="x=y" c="say \\"x\\"" d="" e=plain`])
})

test('what comes from outside neither breaks a line nor speaks to the terminal', () => {
  const { written, write } = lines()
  const evil = 'a\nb\u001b[2Jc\u009b31md\u202ee'
  textLogger(write, { nowMs }).log('error', evil, { evil })
  expect(written).toHaveLength(1)
  expect(written[0]).not.toMatch(/\p{C}/u)
  expect(written[0]).toContain('a\\u{a}b\\u{1b}[2Jc')
})

test('colour is only for those who asked for it', () => {
  const plain = lines()
  const colored = lines()
  textLogger(plain.write, { nowMs }).log('warn', 'm', { k: 1 })
  textLogger(colored.write, { nowMs, color: true }).log('warn', 'm', { k: 1 })
  expect(plain.written[0]).not.toContain('\u001b')
  expect(colored.written[0]).toContain('\u001b[33mwarn \u001b[0m')
})

test('a JSON line holds the same, and no field can stand in for time, level or message', () => {
  const { written, write } = lines()
  jsonLogger(write, { nowMs }).log('warn', 'm', { a: 'x\ny', n: 1, level: 'fake', time: 'fake' })
  expect(written).toHaveLength(1)
  expect(written[0]).not.toContain('\n')
  expect(JSON.parse(written[0] ?? '')).toEqual({
    time,
    level: 'warn',
    message: 'm',
    a: 'x\ny',
    n: 1,
  })
})

test.each([
  ['debug', ['debug', 'info', 'warn', 'error']],
  ['info', ['info', 'warn', 'error']],
  ['error', ['error']],
] as const)('at level %s only %j is logged', (level, expected) => {
  for (const make of [textLogger, jsonLogger]) {
    const { written, write } = lines()
    const { log } = make(write, { level, nowMs })
    for (const each of ['debug', 'info', 'warn', 'error'] as const) log(each, `say ${each}`)
    expect(written.map((line) => /say (\w+)/.exec(line)?.[1])).toEqual(expected)
  }
})
