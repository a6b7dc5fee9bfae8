import * as E from 'fp-ts/lib/Either.js'
import { expect, test } from 'vitest'
import { atOnce } from '../../src/adapters/files/turns.js'
import { maxDocumentLength, maxDocuments } from '../../src/adapters/files/yaml-size.js'
import { maxAliases, maxErrors, readYaml } from '../../src/adapters/files/yaml-stream.js'
import type { FieldError } from '../../src/core/field-error.js'

const documentsOf = (text: string) => {
  const read = atOnce(readYaml(text))
  if (E.isLeft(read)) throw new Error(read.left.message)
  return read.right
}
const valuesOf = (text: string): ReadonlyArray<unknown> =>
  documentsOf(text).map((document) => {
    if (document === undefined) return 'empty'
    return E.isRight(document.value) ? document.value.right : document.value.left
  })
const errorsOf = (text: string): ReadonlyArray<FieldError> => {
  const [document] = documentsOf(text)
  return document !== undefined && E.isLeft(document.value) ? document.value.left : []
}

test.each([
  ['an empty file', '', []],
  ['white space', ' \n\n', []],
  ['a comment', '# nothing\n', []],
  ['a byte order mark', '\ufeffa: 1\n', [{ a: 1 }]],
  ['CRLF', 'a: 1\r\nb: |\r\n  x\r\n  y\r\n', [{ a: 1, b: 'x\ny\n' }]],
  ['a single marker', '---\n', ['empty']],
  [
    'empty documents',
    '---\n---\na: 1\n---\n# c\n---\nnull\n...\n',
    ['empty', { a: 1 }, 'empty', 'empty'],
  ],
  ['an alias', 'a: &a [1]\nb: *a\n', [{ a: [1], b: [1] }]],
])('%s is simply read', (_, text, values) => {
  expect(valuesOf(text)).toEqual(values)
})

test('YAML is 1.2 with the core schema and without merge keys, whatever the file says', () => {
  const text = 'a: yes\nb: 0o17\nc: {<<: {d: 1}}\ne: 2001-01-01\n'
  const value = { a: 'yes', b: 15, c: { '<<': { d: 1 } }, e: '2001-01-01' }
  expect(valuesOf(text)).toEqual([value])
  expect(valuesOf(`%YAML 1.1\n---\n${text}`)).toEqual([value])
})

test.each([
  ['a tab as indentation', 'a:\n\tb: 1\n', 2],
  ['an unclosed quote', 'a: "x\n', 2],
  ['an unclosed list', 'a: [1,\n', 2],
  ['a colon too many', '\na: b: c\n', 2],
])('%s is an error with its line, and makes the text broken', (_, text, line) => {
  const [document] = documentsOf(text)
  expect(document?.broken).toBe(true)
  expect(errorsOf(text)[0]?.message).toMatch(new RegExp(`^line ${String(line)}, column \\d+: `))
})

test('a broken document leaves those before it as they are', () => {
  expect(documentsOf('a: 1\n---\nb: {\n---\nc: 1\n').map((d) => d?.broken)).toEqual([
    false,
    true,
    false,
  ])
})

test('a document that contains itself is told where, and is not broken', () => {
  expect(errorsOf('a: &a\n  b:\n    - *a\n')).toEqual([
    { path: 'a.b[0]', message: expect.stringMatching(/contains itself.*\(line 3\)/) as string },
  ])
  expect(documentsOf('a: &a [*a]\n')[0]?.broken).toBe(false)
})

test('what is shared but not cyclic is a value', () => {
  expect(valuesOf('a: &a {x: 1}\nb: [*a, *a]\n')).toEqual([
    { a: { x: 1 }, b: [{ x: 1 }, { x: 1 }] },
  ])
})

test('an alias without an anchor is an error', () => {
  expect(errorsOf('a: *x\n')[0]?.message).toContain('unresolved alias')
})

test('aliases may expand to a bounded number of values', () => {
  const uses = (count: number): string => `a: &a 1\nb: [${'*a, '.repeat(count)}]\n`
  expect(errorsOf(uses(maxAliases))).toEqual([])
  expect(errorsOf(uses(maxAliases + 1))[0]?.message).toContain('expand to too much')
})

test('a document has a bounded number of aliases, also if each has an anchor of its own', () => {
  const pairs = (count: number): string => '- &a 1\n- *a\n'.repeat(count)
  expect(errorsOf(pairs(maxAliases))).toEqual([])
  expect(errorsOf(pairs(maxAliases + 1))[0]?.message).toContain('expand to too much')
})

test('a bomb of nested aliases is refused at once', () => {
  const levels = Array.from({ length: 20 }, (_, i) =>
    i === 0 ? 'a0: &a0 [x]' : `a${String(i)}: &a${String(i)} [${`*a${String(i - 1)}, `.repeat(9)}]`,
  )
  expect(errorsOf(levels.join('\n'))[0]?.message).toContain('expand to too much')
})

test('a key that stands twice is told by its path and its second line', () => {
  expect(errorsOf('a:\n  - b: 1\n    c: 2\n    b: 3\n')).toEqual([
    { path: 'a[0].b', message: 'is there twice; keep one of them (line 4)' },
  ])
  expect(errorsOf('1: a\n"1": b\n')).toHaveLength(1)
})

test('of many keys that stand twice, the first are told', () => {
  expect(errorsOf('- {a: 1, a: 2}\n'.repeat(2 * maxErrors)).map(({ path }) => path)).toEqual(
    Array.from({ length: maxErrors }, (_, i) => `[${String(i)}].a`),
  )
})

test.each([
  ['an unknown tag', 'a: !secret x\n'],
  ['a binary', 'a: !!binary aGk=\n'],
  ['a set', 'a: !!set {x, y}\n'],
  ['a version of YAML that is not known', '%YAML 3.0\n---\na: 1\n'],
])('%s is refused', (_, text) => {
  expect(errorsOf(text)).toHaveLength(1)
})

test('a text that is nested too deeply is an error of the text as a whole', () => {
  for (const opening of ['[', '{a: ', '- ', '? '])
    expect(atOnce(readYaml(opening.repeat(10_000)))).toEqual(
      E.left({ path: '', message: 'is nested too deeply' }),
    )
})

test('a directive that cannot be read, and nothing behind it, is an error', () => {
  expect(E.isLeft(atOnce(readYaml('%YAML\n')))).toBe(true)
})

test('of many errors the first are told, and how many there are more', () => {
  const errors = errorsOf('}\n'.repeat(maxErrors + 7))
  expect(errors).toHaveLength(maxErrors + 1)
  expect(errors[maxErrors]?.message).toBe('and 7 more errors')
})

test('the line of a field is that of its key, or of what encloses it', () => {
  const text = '# c\nspec:\n  matches:\n    - path:\n        prefix: /a\n  "x.y":\n    1\n'
  const [document] = documentsOf(text)
  const locate = (path: string): string | undefined =>
    document?.locate({ path, message: 'm' }).message
  expect(locate('spec.matches')).toBe('m (line 3)')
  expect(locate('spec.matches[0]')).toBe('m (line 4)')
  expect(locate('spec.matches[0].path.prefix')).toBe('m (line 5)')
  expect(locate('spec.matches[0].path.exact')).toBe('m (line 4)')
  expect(locate('spec."x.y"')).toBe('m (line 6)')
  expect(locate('metadata.name')).toBe('m (line 2)')
  expect(locate('')).toBe('m (line 2)')
})

const faultOf = (text: string): string | undefined => {
  const pieces = readYaml(text)
  const first = pieces.next()
  if (first.done !== true || E.isRight(first.value)) return undefined
  return first.value.left.message
}

test.each(['---\na: 1\n', 'a: 1\n...\n', '---\n', '---\r\n'])(
  'a file has a bounded number of documents, and is refused before it is parsed: %j',
  (document) => {
    expect(faultOf(document.repeat(maxDocuments))).toBeUndefined()
    expect(faultOf(document.repeat(maxDocuments + 1))).toContain('more than 10000 documents')
  },
)

test('a document has a bounded length, and its file is refused before it is parsed', () => {
  const ofLength = (length: number): string => `a: ${'x'.repeat(length - 4)}\n`
  const fits = ofLength(maxDocumentLength)
  expect(faultOf(`${fits}---\nb: 1\n`)).toBeUndefined()
  expect(faultOf(`a: 1\n${'---\nb: 1\n'.repeat(20_000 / 4)}`)).toBeUndefined()
  for (const before of ['', 'c: 1\n', '---\nc: 1\n'])
    for (const behind of ['', '---\nb: 1\n', '...\n'])
      expect(faultOf(`${before}---\n${fits}${behind}`)).toContain(
        `more than 64 KiB, which begins on line ${String(before.split('\n').length)}`,
      )
})

test('only a line that can end a document counts as its end', () => {
  for (const line of ['  ---\n', '----\n', '# ---\n', '--- |\r  ---\r', '...x\n'])
    expect(faultOf(line.repeat(maxDocumentLength / 4))).toContain('more than 64 KiB')
})

test('each document is a piece', () => {
  const pieces = readYaml('a: 1\n---\nb: 1\n---\nc: 1\n')
  expect(Array.from({ length: 4 }, () => pieces.next().done)).toEqual([false, false, false, true])
})
