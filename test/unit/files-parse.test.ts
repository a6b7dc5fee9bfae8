import { expect, test } from 'vitest'
import { parseFile } from '../../src/adapters/files/parse.js'
import { atOnce } from '../../src/adapters/files/turns.js'

const route = (
  name: string,
  spec = 'respond: { code: 200 }',
  metadata = 'namespace: shop, ',
): string =>
  `apiVersion: net.10xdev.io/v1\nkind: EdgeRoute\nmetadata: { ${metadata}name: ${name} }\nspec:\n  ${spec}\n`

const documentsOf = (text: string) => {
  const reading = atOnce(parseFile(text))
  return reading._tag === 'Parsed' ? reading.documents : []
}

test('a file may hold many documents, and empty ones count in their numbers', () => {
  const text = `${route('a')}---\n# nothing\n---\n${route('b')}`
  expect(documentsOf(text)).toEqual([
    {
      _tag: 'Valid',
      document: 1,
      key: { namespace: 'shop', name: 'a' },
      spec: { respond: { code: 200 } },
    },
    {
      _tag: 'Valid',
      document: 3,
      key: { namespace: 'shop', name: 'b' },
      spec: { respond: { code: 200 } },
    },
  ])
})

test('an unknown field is refused, with its path and its line', () => {
  expect(documentsOf(route('a', 'respond: { code: 200 }\n  hostname: [x.test]'))).toEqual([
    {
      _tag: 'Invalid',
      document: 1,
      key: { namespace: 'shop', name: 'a' },
      errors: [
        {
          path: 'spec.hostname',
          message: expect.stringMatching(/hostnames.*\(line 6\)$/) as string,
        },
      ],
    },
  ])
})

test('a document that is wrong takes no other with it', () => {
  const text = [route('a', 'respond: { code: 7 }'), route('b'), '- list\n', route('c')].join(
    '---\n',
  )
  expect(documentsOf(text).map(({ _tag }) => _tag)).toEqual([
    'Invalid',
    'Valid',
    'Invalid',
    'Valid',
  ])
})

test.each([
  [
    'apiVersion: v1\nkind: Service\nmetadata: { name: a, namespace: b }\n',
    'this one is "Service" (line 2)',
  ],
  [route('a').replace('kind: EdgeRoute', 'kind: EdgeRout'), '"EdgeRout"; did you mean EdgeRoute?'],
  ['- a\n', 'this is a list'],
  ['hello\n', 'this is a string'],
  ['7\n', 'this is a number'],
])('what is no EdgeRoute is told what it is: %j', (text, message) => {
  const [document] = documentsOf(text)
  expect(document?._tag === 'Invalid' && document.errors[0]?.message).toContain(message)
})

test('the name of an invalid document is read where it can be', () => {
  const keyOf = (text: string) => documentsOf(text)[0]?.key
  expect(keyOf(route('a', 'respond: 1'))).toEqual({ namespace: 'shop', name: 'a' })
  expect(keyOf(route('a', 'respond: 1', ''))).toEqual({ namespace: 'default', name: 'a' })
  expect(keyOf(route('a', 'respond: "x'))).toEqual({ namespace: 'shop', name: 'a' })
  expect(keyOf(route('a', 'respond: 1', 'namespace: [], '))).toBeUndefined()
  expect(keyOf(route('[]'))).toBeUndefined()
  expect(keyOf(route('Not_A_Name'))).toBeUndefined()
  expect(keyOf(route('a', undefined, 'namespace: Not_A_Name, '))).toBeUndefined()
  expect(keyOf('hello\n')).toBeUndefined()
})

test('an object without a namespace is in the same one whether it is valid or not', () => {
  const [good] = documentsOf(route('a', undefined, ''))
  const [bad] = documentsOf(route('a', 'respond: 1', ''))
  expect(good?._tag).toBe('Valid')
  expect(bad?._tag).toBe('Invalid')
  expect(bad?.key).toEqual(good?.key)
})

test('a text that is not YAML is broken, and no other', () => {
  const isBroken = (text: string): boolean => {
    const reading = atOnce(parseFile(text))
    return reading._tag === 'Parsed' && reading.broken
  }
  expect(isBroken(`${route('a')}---\nb: {`)).toBe(true)
  expect(isBroken('['.repeat(20_000))).toBe(true)
  expect(isBroken(route('a', 'respond: { code: 1, code: 2 }'))).toBe(false)
  expect(isBroken('')).toBe(false)
})
