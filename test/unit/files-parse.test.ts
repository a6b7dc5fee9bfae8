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
      content: { _tag: 'EdgeRoute', spec: { respond: { code: 200 } } },
    },
    {
      _tag: 'Valid',
      document: 3,
      key: { namespace: 'shop', name: 'b' },
      content: { _tag: 'EdgeRoute', spec: { respond: { code: 200 } } },
    },
  ])
})

test('an unknown field is refused, with its path and its line', () => {
  expect(documentsOf(route('a', 'respond: { code: 200 }\n  hostname: [x.test]'))).toEqual([
    {
      _tag: 'Invalid',
      document: 1,
      kind: 'EdgeRoute',
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
    'apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: a, namespace: b }\n',
    'this one is "Deployment" (line 2)',
  ],
  [route('a').replace('kind: EdgeRoute', 'kind: EdgeRout'), '"EdgeRout"; did you mean EdgeRoute?'],
  ['kind: endpointslice\n', '"endpointslice"; did you mean EndpointSlice?'],
  ['- a\n', 'this is a list'],
  ['hello\n', 'this is a string'],
  ['7\n', 'this is a number'],
])('what is no object of ours is told what it is: %j', (text, message) => {
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

const service = (spec = 'ports: [{ port: 80 }]', apiVersion = 'apiVersion: v1\n'): string =>
  `${apiVersion}kind: Service\nmetadata: { namespace: shop, name: web }\nspec: { selector: { app: web }, ${spec} }\n`

const slice = `apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { namespace: shop, name: web-1, labels: { kubernetes.io/service-name: web } }
addressType: IPv4
ports: [{ port: 8080 }]
endpoints: [{ addresses: [192.0.2.1] }]
`

test('Services and EndpointSlices are read as Kubernetes has them, with fields that nobody needs', () => {
  const key = { namespace: 'shop', name: 'web' }
  const content = { _tag: 'Service', service: { ...key, ports: [{ name: '', port: 80 }] } }
  const [first, second] = documentsOf([service(), slice].join('---\n'))
  expect(first).toEqual({ _tag: 'Valid', document: 1, key, content })
  expect(second).toMatchObject({
    key: { namespace: 'shop', name: 'web-1' },
    content: { slice: { service: 'web', endpoints: [{ addresses: ['192.0.2.1'], ready: true }] } },
  })
})

test.each([
  [service('ports: [{ port: 0 }]'), 'spec.ports[0].port', /1 to 65535.*\(line 4\)/],
  [service('', ''), 'apiVersion', /is required: write v1 \(line 1\)/],
  [service('', 'apiVersion: v2\n'), 'apiVersion', /must be "v1", not "v2" \(line 1\)/],
  [slice.replace('IPv4', 'IPv5'), 'addressType', /must be IPv4, IPv6 or FQDN/],
  [
    slice.replace('service-name', 'service'),
    'metadata.labels["kubernetes.io/service-name"]',
    /is required \(line 3\)/,
  ],
])('one that is wrong is told what and where: %j', (text, path, message) => {
  const [document] = documentsOf(text)
  const errors = document?._tag === 'Invalid' ? document.errors : []
  expect(errors).toEqual([{ path, message: expect.stringMatching(message) as string }])
})

test('an invalid document is of the kind that it names, of any if that is misspelt, and of no other', () => {
  const kindIn = (text: string) => {
    const [document] = documentsOf(text)
    return document?._tag === 'Invalid' ? document.kind : 'valid'
  }
  expect(kindIn(service('ports: 7'))).toBe('Service')
  expect(kindIn(service().replace('kind: Service', 'kind: Servics'))).toBeUndefined()
  expect(kindIn(service().replace('kind: Service', ''))).toBeUndefined()
  expect(kindIn(service().replace('kind: Service', 'kind: Deployment'))).toBe('Other')
})
