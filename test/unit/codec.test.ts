import { describe, expect, test } from 'vitest'
import { checkSpec, decodeEdgeRoute } from '../../src/core/codec.js'
import { showFieldError } from '../../src/core/field-error.js'

const spec = { respond: { code: 200 } }
const metadata = { name: 'checkout' }
const envelope = { apiVersion: 'net.10xdev.io/v1', kind: 'EdgeRoute', metadata, spec }

const errorsOf = (value: unknown): ReadonlyArray<string> => {
  const decoded = decodeEdgeRoute(value)
  return decoded._tag === 'Left' ? decoded.left.map(showFieldError) : []
}

describe('the envelope', () => {
  test('defaults stand in for the metadata that a file does not have', () => {
    expect(decodeEdgeRoute(envelope)).toStrictEqual({
      _tag: 'Right',
      right: {
        route: {
          metadata: {
            namespace: 'default',
            name: 'checkout',
            uid: 'default/checkout',
            generation: 1,
            finalizers: [],
          },
          spec,
        },
        warnings: [],
      },
    })
  })

  test('what Kubernetes adds to an object is accepted and left out', () => {
    const full = {
      ...envelope,
      metadata: {
        ...metadata,
        labels: { a: 'b' },
        annotations: { 'x/y': 'z' },
        resourceVersion: '1',
        managedFields: [{ anything: {} }],
        ownerReferences: [],
        selfLink: '/x',
        generateName: 'x',
        deletionGracePeriodSeconds: 0,
      },
      status: { conditions: [] },
    }
    expect(decodeEdgeRoute(full)).toStrictEqual(decodeEdgeRoute(envelope))
  })

  const rows: ReadonlyArray<readonly [value: unknown, error: string]> = [
    [undefined, 'must be an object with apiVersion, kind, metadata and spec, not nothing'],
    [null, 'must be an object with apiVersion, kind, metadata and spec, not null'],
    [[], 'must be an object with apiVersion, kind, metadata and spec, not a list'],
    ['EdgeRoute', 'must be an object with apiVersion, kind, metadata and spec, not "EdgeRoute"'],
    [{ ...envelope, apiVersion: 'v1' }, 'apiVersion: must be "net.10xdev.io/v1", not "v1"'],
    [{ ...envelope, apiVersion: undefined }, 'apiVersion: is required'],
    [{ ...envelope, kind: 'Service', spec: 1 }, 'kind: must be "EdgeRoute", not "Service"'],
    [{ ...envelope, metadata: undefined }, 'metadata: is required'],
    [{ ...envelope, metadata: {} }, 'metadata.name: is required'],
    [{ ...envelope, spec: undefined }, 'spec: is required'],
  ]
  test.each(rows)('%j is refused: %s', (value, error) => {
    expect(errorsOf(value)).toEqual([error])
  })

  const metadataRows: ReadonlyArray<readonly [field: string, value: unknown, message: string]> = [
    ['name', '', 'must be lower-case letters, digits, "-" and ".", not ""'],
    ['name', 'Checkout', 'not "Checkout"'],
    ['name', 'x'.repeat(254), 'has 254 characters: at most 253'],
    ['namespace', 'a.b', 'must be lower-case letters'],
    ['namespace', 'x'.repeat(64), 'at most 63'],
    ['uid', '', 'must not be empty'],
    ['generation', -1, 'whole number'],
    ['generation', '1', 'write 1 without quotes'],
    ['creationTimestamp', '2026-02-30T00:00:00Z', 'must be a time'],
    ['creationTimestamp', '2025-02-29T00:00:00Z', 'must be a time'],
    ['creationTimestamp', '2026-01-01', 'must be a time'],
    ['creationTimestamp', '2026-01-01T24:00:00Z', 'must be a time'],
    ['creationTimestamp', '2026-01-01T00:00:60Z', 'must be a time'],
    ['creationTimestamp', '2026-13-01T00:00:00Z', 'must be a time'],
    ['creationTimestamp', '2026-01-01T00:00:00+25:00', 'must be a time'],
    ['creationTimestamp', 1_700_000_000, 'must be a string'],
    ['deletionTimestamp', 'yesterday', 'not "yesterday"'],
    ['finalizers', 'a', 'must be a list, not "a"'],
  ]
  test.each(metadataRows)('metadata.%s of %j is refused: %s', (field, value, message) => {
    const errors = errorsOf({ ...envelope, metadata: { ...metadata, [field]: value } })
    expect(errors).toHaveLength(1)
    expect(errors[0]).toContain(`metadata.${field}: `)
    expect(errors[0]).toContain(message)
  })

  test.each(['2024-02-29T23:59:59Z', '2026-01-01T00:00:00.123456Z', '2026-01-01T00:00:00-07:00'])(
    'the time %s is accepted',
    (creationTimestamp) => {
      expect(errorsOf({ ...envelope, metadata: { ...metadata, creationTimestamp } })).toEqual([])
    },
  )
})

describe('errors', () => {
  test('all of them are there, in the order of the document', () => {
    const value = {
      spec: {
        retries: { attempts: 99 },
        matches: [{ path: { prefix: 'a' } }, { pth: {} }, { path: { exact: 'b' }, methods: [] }],
        hostnames: ['A.test', 'b.test:80'],
        backends: [{ address: { port: 0, host: '' } }],
      },
      metadata: { namespace: 'N' },
      kind: 'EdgeRoute',
      apiVersion: 'net.10xdev.io/v1',
    }
    expect(errorsOf(value)).toEqual([
      'spec.retries.attempts: must be a whole number from 1 to 10, not 99',
      'spec.matches[0].path.prefix: must start with "/": write "/a"',
      'spec.matches[1].pth: is not a field of this object: did you mean "path"?',
      'spec.matches[2].path.exact: must start with "/": write "/b"',
      'spec.matches[2].methods: must not be empty: name one, or leave the field out',
      'spec.hostnames[0]: must be in lower case: write "a.test"',
      'spec.hostnames[1]: must be a host without a port: leave ":80" out',
      'spec.backends[0].address.port: must be a whole number from 1 to 65535, not 0',
      'spec.backends[0].address.host: must be a host name in lower case, such as "shop.example.com", not ""',
      'metadata.namespace: must be lower-case letters, digits and "-", not "N"',
      'metadata.name: is required',
    ])
  })

  test('a long value is cut in a message', () => {
    const [error = ''] = errorsOf({ ...envelope, kind: 'x'.repeat(100_000) })
    expect(error).toContain(`"${'x'.repeat(40)}…"`)
    expect(error.length).toBeLessThan(120)
  })

  test('after a hundred of them one says that there are more', () => {
    const fields = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`odd${n}`, n]))
    const errors = errorsOf({ ...envelope, spec: { ...spec, ...fields } })
    expect(errors).toHaveLength(101)
    expect(errors[0]).toContain('spec.odd0')
    expect(errors[100]).toBe('there are more: only the first 100 are listed')
  })

  test('a spec made by hand is checked like one that was decoded', () => {
    const bad = { backends: [], hostnames: ['*'], timeouts: { request: '1' } }
    expect(checkSpec(bad).map(showFieldError)).toEqual([
      'spec.backends: must not be empty: name one, or leave the field out',
      'spec.hostnames[0]: must be a name or "*.suffix": leave hostnames out for every host',
      'spec.timeouts.request: missing unit: write "1s"',
    ])
  })
})

describe('unknown fields', () => {
  const misspelt = {
    ...envelope,
    metadata: { ...metadata, lables: {} },
    spec: { ...spec, host: 'a.test', frobnicate: 1 },
    extra: true,
  }
  const found = [
    'metadata.lables: is not a field of this object: did you mean "labels"?',
    'spec.host: is not a field of this object: did you mean "hostnames"?',
    'spec.frobnicate: is not a field of this object: it has dataPlane, hostnames, matches, ',
    'extra: is not a field of this object: it has apiVersion, kind, metadata, spec or status',
  ]

  test('named true under retries are the key on, which YAML 1.1 reads so without quotes', () => {
    const backends = [{ address: { host: '10.0.0.7', port: 80 } }]
    const bare = { backends, retries: { attempts: 2, true: ['5xx'] } }
    expect(errorsOf({ ...envelope, spec: bare })).toEqual([
      'spec.retries.true: is not a field of this object: YAML 1.1 reads a bare "on" as true, ' +
        'so write it in quotes, "on"',
    ])
    expect(errorsOf({ ...envelope, spec: { ...spec, true: 1 } })[0]).toContain('it has dataPlane')
  })

  test('refuse the object, where they are refused', () => {
    const errors = errorsOf(misspelt)
    expect(errors).toHaveLength(found.length)
    for (const [index, start] of found.entries()) expect(errors[index]).toContain(start)
  })

  test('are warnings, where they are ignored', () => {
    const decoded = decodeEdgeRoute(misspelt, { unknownFields: 'warn' })
    if (decoded._tag === 'Left') throw new Error('must be decoded')
    expect(decoded.right.warnings.map(showFieldError)).toEqual(errorsOf(misspelt))
    expect(decoded.right.route.spec).toStrictEqual(spec)
  })

  test('do not hide that something else is wrong', () => {
    const decoded = decodeEdgeRoute(
      { ...misspelt, spec: { redirect: {}, x: 1 } },
      {
        unknownFields: 'warn',
      },
    )
    expect(decoded).toStrictEqual({
      _tag: 'Left',
      left: [{ path: 'spec.redirect', message: 'must have scheme, host or path' }],
    })
  })

  test('in odd names are quoted in the path', () => {
    expect(errorsOf({ ...envelope, 'a b': 1 })[0]).toMatch(/^\["a b"\]: is not a field/)
  })

  test('names of a prototype are unknown, and change nothing', () => {
    const value: unknown = JSON.parse(
      '{"apiVersion":"net.10xdev.io/v1","kind":"EdgeRoute","metadata":{"name":"a"},"spec":{"respond":{"code":200},"__proto__":{"backends":[]},"constructor":1}}',
    )
    expect(errorsOf(value).map((error) => error.split(':')[0])).toEqual([
      'spec.__proto__',
      'spec.constructor',
    ])
  })

  test('are not looked for inside of what is no object, nor in cycles', () => {
    const cyclic: Record<string, unknown> = { ...spec }
    cyclic['matches'] = [cyclic]
    cyclic['self'] = cyclic
    expect(errorsOf({ ...envelope, spec: cyclic }).length).toBeGreaterThan(0)
  })
})
