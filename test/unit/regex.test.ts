import fc from 'fast-check'
import { RE2JS } from 're2js'
import { describe, expect, test } from 'vitest'
import { checkPathRegex, checkRegex } from '../../src/core/regex.js'
import { isProgram, programSize } from '../../src/core/regex/program.js'

const sizeOf = (pattern: string): number => {
  const program: unknown = RE2JS.compile(pattern).re2().prog
  if (!isProgram(program)) throw new Error('re2js has another form')
  return programSize(program)
}

describe('the size of a program is that of Envoy 1.40, which printed these', () => {
  const rows: ReadonlyArray<readonly [pattern: string, size: number]> = [
    ['a', 5],
    ['abc', 7],
    ['.', 6],
    ['(?s).', 5],
    ['[^/]', 6],
    ['[^/]+', 7],
    ['/a/[^/]+/b', 12],
    ['\\w', 7],
    ['\\w+', 8],
    ['\\S+', 9],
    ['\\d{3}', 7],
    ['(a)', 7],
    ['a?', 6],
    ['a*', 5],
    ['a|b', 5],
    ['ab|cd', 8],
    ['(a|bc)*', 9],
    ['\\ba\\b', 7],
    ['(?i)abc', 7],
    ['(?i)[a-c]x', 6],
    ['\\pL', 11],
    ['\\w{1,10}', 43],
    ['[a-zA-Z0-9_-]{1,20}', 103],
    ['(?:a?){10}', 24],
    ['(?:(?:x*){10})', 23],
    ['(a*)*', 11],
    ['(a|b*)*', 14],
    ['(|a)*', 12],
    ['(?:a|b|c|de)?x', 9],
    ['/v[0-9]+/(users|groups)/[^/]+(/.*)?', 32],
    ['[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', 72],
  ]
  test.each(rows)('%s: %d', (pattern, size) => {
    expect(sizeOf(pattern)).toBe(size)
  })
})

describe('a regex that Envoy refuses is refused', () => {
  const rows: ReadonlyArray<readonly [pattern: string, message: string]> = [
    ['', 'must not be empty'],
    ['[', 'missing closing ]'],
    ['(', 'missing closing )'],
    ['a)', 'unexpected )'],
    ['*a', 'missing argument to repetition operator'],
    ['a**', 'invalid nested repetition operator'],
    ['\\', 'trailing backslash'],
    ['(?=a)', 'invalid or unsupported Perl syntax'],
    ['(?<=a)b', 'RE2'],
    ['(?<!a)b', 'RE2'],
    ['(a)\\1', 'invalid escape sequence'],
    ['(?>a)', 'RE2'],
    ['(?P<n>a)(?P<n>b)', 'duplicate capture group name'],
    ['[b-a]', 'invalid character class range'],
    ['\\p{Foo}', 'no byte matches'],
    ['\\p{Garay}', 'no byte matches'],
    ['\\p{LC}', 'no byte matches'],
    ['\\P{^Cn}', 'no byte matches'],
    ['[\\p{Greek}]', 'no byte matches'],
    ['\\x{100}', 'more than one byte'],
    ['a\\x{10FFFF}', 'more than one byte'],
    ['\\777', 'more than one byte'],
    ['[\\400]', 'more than one byte'],
    ['é', 'printable ASCII'],
    ['a\n', 'printable ASCII'],
    ['\ud800', 'printable ASCII'],
    ['a{1000}', 'repeats 1000 times'],
    ['a{60}b{,9}c{3,60}', 'repeats 120 times'],
    ['a{100}', 'is too complex, at 104 instructions'],
    ['(?:\\w\\w){20}', 'is too complex'],
    ['a'.repeat(1025), 'has 1025 characters'],
  ]
  test.each(rows)('%s: %s', (pattern, message) => {
    expect(checkRegex(pattern)).toContain(message)
  })
})

test.each([
  'a',
  '[a-z]{1,20}',
  '\\\\x{1a0}',
  '\\Q\\x{100}\\E',
  '\\p{Lu}',
  '\\pN',
  '[[:alpha:]]',
  '\\xff',
  '\\x{FF}',
  '\\377',
  '(?i)k',
  '(?<n>a)',
  '(?P<n>a)',
  'x{,2}',
  '\\z',
])('the regex %s, which Envoy takes, is accepted', (pattern) => {
  expect(checkRegex(pattern)).toBeUndefined()
})

describe('the regex of a path must be able to match a slash first', () => {
  test.each(['/a', '.*', '(?:/a|b)', '\\/', '[^a]+', '^/a$', '(?i)(|a)/', '\\W', '(?s:.)'])(
    '%s can',
    (pattern) => {
      expect(checkPathRegex(pattern)).toBeUndefined()
    },
  )
  test.each(['a.*', '(?:)', '$', '\\w+/', 'users|groups', 'a?b', '[^/]*'])(
    '%s cannot',
    (pattern) => {
      expect(checkPathRegex(pattern)).toContain('starts with "/"')
    },
  )
})

test('no pattern makes it throw or take long', () => {
  const nasty = fc
    .array(fc.constantFrom('(', ')', '[', ']', '{9}', '{1,', '}', '*', '\\', 'a', '|', '?', '^'), {
      maxLength: 60,
    })
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(fc.oneof(nasty, fc.string({ unit: 'binary' })), (pattern) => {
      const message = checkRegex(pattern)
      if (message !== undefined) expect(message).toMatch(/\S/)
    }),
    { numRuns: 2000 },
  )
})
