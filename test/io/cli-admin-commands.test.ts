import { createServer, type RequestListener } from 'node:http'
import { createServer as createTcpServer, type Server } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import type { DeletionState } from '../../src/core/deletion.js'
import type { Condition } from '../../src/core/status.js'
import type { Operator } from '../../src/host/operator.js'
import { runCli } from '../support/cli.js'
import {
  aNode,
  anExplanation,
  before,
  fakeOperator,
  noonMs,
  runWithLine,
  startAdmin,
} from '../support/fake-operator.js'

const cleanups: Array<() => Promise<void> | void> = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** The `--admin` words of a control plane that answers so. */
const adminOf = async (operator: Partial<Operator>): Promise<ReadonlyArray<string>> => {
  const { admin, stop } = await startAdmin(fakeOperator(operator))
  cleanups.push(stop)
  return ['--admin', admin]
}

/** The port of a server that is none of ours. */
const portOf = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => void server.close())
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

const strangers = (handler: RequestListener): Promise<number> => portOf(createServer(handler))

/** What would move the cursor, colour text, turn its direction or hide it. */
const dangerous = /[^\P{C}\n]/u

const lost = aNode({
  id: 'envoy-lost',
  connected: false,
  since: before(7_260),
  lastSaid: undefined,
  isUpToDate: false,
})
const refusing = aNode({
  id: 'envoy-nack',
  lastSaid: { what: 'NACK', at: before(90), version: 'v9', message: 'no such regex' },
})
const silent = aNode({ id: 'envoy-slow' })

const key = { namespace: 'shop', name: 'checkout' }

describe('explain', () => {
  test('a route that waits is told with who, since when, what each said last, and what to do', async () => {
    const admin = await adminOf({
      explain: () => [
        anExplanation({
          owed: [lost, refusing, silent].map((node) => ({ ...node, holdsUp: ['shop/checkout'] })),
          conditions: [
            {
              type: 'Accepted',
              status: 'False',
              reason: 'Terminating',
              message: 'it is being deleted',
              observedGeneration: 1,
              lastTransitionTime: before(200),
            },
          ],
        }),
      ],
    })
    const { code, out, err } = await runCli(['explain', 'shop/checkout', ...admin])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    for (const words of [
      'shop/checkout is Terminating, and waits for 3 Envoys that may still serve it',
      'withdrawn  2026-01-01T11:56:40.000Z (3m20s ago)',
      'Accepted=False Terminating: it is being deleted',
      `lost since ${before(7_260)} (2h1m ago)`,
      'has said nothing of a route table yet',
      `said last: NACK of version v9 at ${before(90)} (1m30s ago): no such regex`,
      `said last: ACK of version v1 at ${before(60)} (1m ago)`,
      'envoy-nack refuses what it was sent',
      'envoy-slow is connected, and has not answered yet',
      `edgewright forget envoy-lost ${admin.join(' ')}`,
      `edgewright break-glass shop/checkout ${admin.join(' ')}`,
    ])
      expect(out).toContain(words)
  })

  test('of an Envoy that may be about to come back it is advised to wait, and not to forget it', async () => {
    const awaited = { ...lost, id: 'envoy-late', since: undefined, isAwaited: true }
    const admin = await adminOf({ explain: () => [anExplanation({ owed: [awaited] })] })
    const { out } = await runCli(['explain', 'shop/checkout', ...admin])
    expect(out).toContain('not heard of since the control plane began a moment ago')
    expect(out).toContain('envoy-late has not been heard of since the control plane began.')
    expect(out).toContain('Wait a minute')
    expect(out).not.toMatch(/edgewright forget|lost/)
  })

  const sinceMs = noonMs - 1_000
  test.each([
    [
      { _tag: 'Waiting', sinceMs, waitsFor: { _tag: 'Starting', untilMs: noonMs + 58_500 } },
      ['begun a moment ago', '(in 59s)', 'Wait: it goes on by itself', 'edgewright break-glass'],
      [],
    ],
    [
      { _tag: 'Waiting', sinceMs, waitsFor: { _tag: 'RosterUnsaved', message: 'EROFS' } },
      ['cannot be saved: EROFS', '--roster', 'edgewright break-glass'],
      [],
    ],
    [
      { _tag: 'Waiting', sinceMs, waitsFor: { _tag: 'NotHolding', message: 'no Lease' } },
      ['nothing is proven at the moment: no Lease', 'once the Lease is held again'],
      ['list of Envoys', '--roster'],
    ],
    [
      { _tag: 'Settling', sinceMs, clearSinceMs: noonMs, returns: 1 },
      ['gone from every Envoy'],
      ['What to do'],
    ],
    [
      { _tag: 'Releasing', sinceMs, returns: 1, failure: 'Forbidden' },
      ['is being taken off', 'failed     Forbidden', 'See why the object cannot be written'],
      ['break-glass'],
    ],
    [{ _tag: 'Released', sinceMs }, ['is released'], ['What to do']],
    [
      { _tag: 'Guarding', failure: 'Forbidden' },
      ['is not served yet', 'failed     Forbidden', 'See why the object cannot be written'],
      ['break-glass', 'withdrawn'],
    ],
    [
      { _tag: 'Serving', isGuarded: true, failure: undefined },
      ['nothing is said of it yet'],
      ['What'],
    ],
  ] satisfies ReadonlyArray<[DeletionState, ReadonlyArray<string>, ReadonlyArray<string>]>)(
    'in the state %j the words are %j, and not %j',
    async (state, words, others) => {
      const admin = await adminOf({ explain: () => [anExplanation({ key, state })] })
      const { code, out } = await runCli(['explain', 'shop/checkout', ...admin])
      expect(code).toBe(0)
      for (const each of words) expect(out).toContain(each)
      for (const each of others) expect(out).not.toContain(each)
    },
  )

  test.each([
    [true, 'may not write ConfigMaps', '--roster'],
    [false, 'the file of --roster', 'ConfigMaps'],
    [undefined, 'the file of --roster', 'ConfigMaps'],
  ])(
    'where the list of Envoys is not safe the advice fits where it is kept (stored: %j)',
    async (isStored, words, others) => {
      const waitsFor = { _tag: 'RosterUnsaved', message: 'it is refused' } as const
      const state: DeletionState = { _tag: 'Waiting', sinceMs, waitsFor }
      const explanation = anExplanation({ state, ...(isStored !== undefined && { isStored }) })
      const admin = await adminOf({ explain: () => [explanation] })
      const { out } = await runCli(['explain', 'shop/checkout', ...admin])
      expect(out).toContain(words)
      expect(out).not.toContain(others)
    },
  )

  type Told = readonly [Condition['type'], Condition['status'], string, string, number?]
  const conditionsOf = (...all: ReadonlyArray<Told>): ReadonlyArray<Condition> =>
    all.map(([type, status, reason, message, observedGeneration = 2]) => ({
      ...{ type, status, reason, message, observedGeneration },
      lastTransitionTime: before(60),
    }))
  const accepted = ['Accepted', 'True', 'Accepted', ''] as const
  const programmed = ['Programmed', 'True', 'Programmed', ''] as const

  test.each([
    ['is served everywhere', [accepted, programmed]],
    [
      'is served everywhere, and a backend leads nowhere (ServiceNotFound)',
      [accepted, ['ResolvedRefs', 'False', 'ServiceNotFound', 'x'], programmed],
    ],
    [
      'is served everywhere, save what another route has claimed (PartiallyConflicted)',
      [['Accepted', 'False', 'PartiallyConflicted', 'x'], programmed],
    ],
    [
      'is not accepted, and not served: spec.matches[0]: must be one',
      [['Accepted', 'False', 'Invalid', 'spec.matches[0]: must be one']],
    ],
    [
      'waits for Envoys: not yet accepted by a and 2 more',
      [accepted, ['Programmed', 'False', 'Pending', 'not yet accepted by a and 2 more']],
    ],
    [
      'waits for Envoys that are behind: for too long not accepted by a',
      [accepted, ['Programmed', 'False', 'Lagging', 'for too long not accepted by a']],
    ],
    [
      'is not served everywhere: refused by a: no such regex',
      [accepted, ['Programmed', 'False', 'Refused', 'refused by a: no such regex']],
    ],
    [
      'is served nowhere: no Envoy of the data plane x has connected',
      [accepted, ['Programmed', 'False', 'NoEnvoy', 'no Envoy of the data plane x has connected']],
    ],
    [
      'is served everywhere in its last form, and the present one is on its way',
      [accepted, ['Programmed', 'True', 'Programmed', '', 1]],
    ],
    ['is accepted, and nothing is known of its Envoys yet', [accepted]],
  ] satisfies ReadonlyArray<[string, ReadonlyArray<Told>]>)(
    'the first line says at once how a route stands: %s',
    async (words, conditions) => {
      const state = { _tag: 'Serving', isGuarded: true, failure: undefined } as const
      const explanation = anExplanation({ state, conditions: conditionsOf(...conditions) })
      const admin = await adminOf({ explain: () => [explanation] })
      const { out } = await runCli(['explain', 'shop/checkout', ...admin])
      expect(out.split('\n')[0]).toBe(`shop/checkout ${words}`)
    },
  )

  test('as JSON it is the document of the endpoint', async () => {
    const admin = await adminOf({ explain: () => [anExplanation({ owed: [lost] })] })
    const { code, out } = await runCli(['explain', 'shop/checkout', '--output', 'json', ...admin])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      version: 1,
      routes: [{ state: 'Waiting', owed: [{ id: 'envoy-lost', connected: false }] }],
    })
  })

  test('every object of the name is told', async () => {
    const serving = { _tag: 'Serving', isGuarded: true, failure: undefined } as const
    const explanations = [anExplanation(), anExplanation({ uid: 'uid-2', state: serving })]
    const admin = await adminOf({ explain: () => explanations })
    const { out } = await runCli(['explain', 'shop/checkout', ...admin])
    expect(out).toContain('uid-1')
    expect(out).toContain(
      'shop/checkout is there, and nothing is said of it yet\n  uid        uid-2',
    )
  })

  test('no such route is exit code 1', async () => {
    const { code, out, err } = await runCli(['explain', 'shop/nope', ...(await adminOf({}))])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toBe('edgewright explain: no object has the name shop/nope\n')
  })
})

describe('nodes', () => {
  test('a table has those that hold something up first, and of these the lost ones first', async () => {
    const holdsUp = ['shop/a', 'shop/b', 'shop/c', 'shop/d', 'shop/e']
    const all = [
      silent,
      { ...lost, id: 'envoy-gone', since: undefined },
      { ...lost, id: 'envoy-late', since: undefined, isAwaited: true },
      { ...refusing, holdsUp: ['shop/a'] },
      { ...lost, holdsUp, isShared: true },
    ]
    const { code, out } = await runCli(['nodes', ...(await adminOf({ nodes: () => all }))])
    expect(code).toBe(0)
    expect(out.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['ID', 'DATA PLANE', 'STATE', 'SINCE', 'LAST SAID', 'HOLDS UP'],
      [
        ...['envoy-lost', 'edge-envoy', 'lost, shared id', `${before(7_260)} (2h1m ago)`, '-'],
        'shop/a, shop/b, shop/c and 2 more',
      ],
      [
        ...['envoy-nack', 'edge-envoy', 'connected', `${before(3_600)} (1h ago)`],
        ...['NACK v9 (1m30s ago): no such regex', 'shop/a'],
      ],
      ['envoy-gone', 'edge-envoy', 'lost', '-', '-', '-'],
      ['envoy-late', 'edge-envoy', 'not heard of yet', '-', '-', '-'],
      [
        ...['envoy-slow', 'edge-envoy', 'connected', `${before(3_600)} (1h ago)`],
        ...['ACK v1 (1m ago)', '-'],
      ],
      [''],
    ])
  })

  test('below an Envoy stands what it refuses that no route tells of, its message cut to size', async () => {
    const busy = `cannot bind '0.0.0.0:10000': Address already in use`
    const refusing = [
      { type: 'Listener', name: 'http', message: busy },
      { type: 'Listener', name: 'b\u001b[2J', message: `\u001b[2J${'x'.repeat(500)}` },
      { type: 'Cluster', name: 'c', message: 'no' },
      { type: 'Cluster', name: 'd', message: 'no' },
      { type: 'Cluster', name: 'e', message: 'no' },
    ]
    const nodes = () => [aNode({ id: 'a', refusals: refusing }), aNode({ id: 'b' })]
    const { out } = await runCli(['nodes', ...(await adminOf({ nodes }))])
    const [, a, listener, other, cluster, more, b] = out.split('\n')
    expect([a?.split(' ')[0], b?.split(' ')[0]]).toEqual(['a', 'b'])
    expect(listener).toBe(`  refuses Listener http: ${busy}`)
    expect(other).toMatch(/x…$/)
    expect(other?.length).toBeLessThan(260)
    expect([cluster, more]).toEqual(['  refuses Cluster c: no', '  and refuses 2 more'])
    expect(out).not.toMatch(dangerous)
  })

  test('an Envoy that came with everything has said nothing, and is told to be up to date', async () => {
    const nodes = () => [
      aNode({ id: 'a', lastSaid: undefined }),
      aNode({ id: 'b', lastSaid: undefined, isUpToDate: false }),
    ]
    const { out } = await runCli(['nodes', ...(await adminOf({ nodes }))])
    expect(out.split('\n').map((line) => line.split(/ {2,}/)[4])).toEqual([
      ...['LAST SAID', 'up to date when it came', '-', undefined],
    ])
  })

  test('an endpoint that is older says less of an Envoy, and is understood', async () => {
    const node = {
      ...{ id: 'a', dataPlane: 'edge-envoy', connected: true, shared: false },
      ...{ holdsUp: [], holdsUpCount: 0 },
    }
    const document = { version: 1, now: before(0), nodes: [node], nodeCount: 1 }
    const port = await strangers((_, response) => void response.end(JSON.stringify(document)))
    const { code, out } = await runCli(['nodes', '--admin', `127.0.0.1:${port}`])
    expect(code).toBe(0)
    expect(out).toMatch(/^a .* connected/m)
  })

  test('as JSON it is the document of the endpoint', async () => {
    const admin = await adminOf({ nodes: () => [{ ...lost, isAwaited: true }] })
    const { code, out } = await runCli(['nodes', '--output', 'json', ...admin])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      version: 1,
      nodes: [{ id: 'envoy-lost', connected: false, awaited: true }],
    })
  })

  test('none at all is said', async () => {
    expect(await runCli(['nodes', ...(await adminOf({}))])).toEqual({
      code: 0,
      out: 'No Envoy is known.\n',
      err: '',
    })
  })
})

describe('forget', () => {
  test('it is said what it means, and what had waited', async () => {
    const admin = await adminOf({
      nodes: () => [{ ...lost, holdsUp: ['shop/a'] }],
      forget: () => Promise.resolve('Forgotten'),
    })
    const { code, out } = await runCli(['forget', 'envoy-lost', ...admin])
    expect(code).toBe(0)
    expect(out).toContain('envoy-lost is forgotten')
    expect(out).toContain('These did: shop/a.')
    expect(out).toContain('may go on serving what it had')
    expect(out).not.toContain('Warning')
  })

  test('a warning does not keep it from being done, and is shown', async () => {
    const warning = 'it may be about to come back'
    const admin = await adminOf({ forget: () => Promise.resolve({ warning }) })
    const { code, out } = await runCli(['forget', 'envoy-lost', ...admin])
    expect(code).toBe(0)
    expect(out).toContain('envoy-lost is forgotten')
    expect(out).toContain(`\nWarning: ${warning}.\n`)
  })

  test.each([
    ['Connected', 'envoy-1: it is connected: only what it says itself shows what it serves'],
    ['Unknown', 'envoy-1: no node has this id'],
    [{ failure: 'the disk is full' }, 'envoy-1: the disk is full'],
  ] as const)('%j is exit code 1, and the reason', async (result, message) => {
    const admin = await adminOf({ forget: () => Promise.resolve(result) })
    const { code, out, err } = await runCli(['forget', 'envoy-1', ...admin])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain(message)
  })

  test.each(['a/b', '..', 'ünï 😀', '-x', '%2f', 'a?b#c', ' '])('the node %j', async (id) => {
    const asked: Array<string> = []
    const forget = (each: string) => {
      asked.push(each)
      return Promise.resolve('Forgotten' as const)
    }
    const { code } = await runCli(['forget', ...(await adminOf({ forget })), '--', id])
    expect({ code, asked }).toEqual({ code: 0, asked: [id] })
  })
})

describe('break-glass', () => {
  const world = async (
    explanation = anExplanation({ owed: [lost] }),
  ): Promise<{ readonly argv: ReadonlyArray<string>; readonly broken: Array<unknown> }> => {
    const broken: Array<unknown> = []
    const admin = await adminOf({
      explain: () => [explanation],
      breakGlass: (key) => {
        broken.push(key)
        return Promise.resolve({
          _tag: 'Broken',
          unconfirmed: ['envoy-lost', 'b'],
          waitedFor: { _tag: 'Owed', nodes: ['envoy-lost', 'b'], nodeCount: 2 },
        })
      },
    })
    return { argv: ['break-glass', 'shop/checkout', ...admin], broken }
  }

  test('the state and the hazard are shown before the name is asked for', async () => {
    const { argv, broken } = await world()
    const { code, out } = await runWithLine(argv, 'shop/checkout')
    expect({ code, broken }).toEqual({ code: 0, broken: [key] })
    const places = [
      'waits for 1 Envoy that may still serve it',
      'They may go on sending its requests to its backends',
      'Type the name of the route',
      'shop/checkout is released.',
      '2 Envoys had not confirmed: envoy-lost, b',
    ].map((words) => out.indexOf(words))
    expect(places).not.toContain(-1)
    expect([...places].sort((a, b) => a - b)).toEqual(places)
  })

  test('spaces around the name do not matter, and --yes does not ask', async () => {
    const first = await world()
    expect((await runWithLine(first.argv, ' shop/checkout\r')).code).toBe(0)
    const second = await world()
    const { code, out } = await runWithLine([...second.argv, '--yes'], undefined)
    expect({ code, broken: second.broken }).toEqual({ code: 0, broken: [key] })
    expect(out).not.toContain('Type the name')
    expect(out).toContain('They may go on sending')
  })

  test.each([
    ['checkout', 'this is not the name'],
    ['yes', 'this is not the name'],
    ['', 'this is not the name'],
    ['shop/checkout2', 'this is not the name'],
    [undefined, 'the name of the route was not typed'],
  ])('%j in place of the name does nothing: exit code 1', async (line, message) => {
    const { argv, broken } = await world()
    const { code, err } = await runWithLine(argv, line)
    expect({ code, broken }).toEqual({ code: 1, broken: [] })
    expect(err).toContain(message)
    expect(err).toContain('nothing is done')
  })

  test('where there is no input at all it refuses', async () => {
    const { argv, broken } = await world()
    const { code, err } = await runCli(argv)
    expect({ code, broken }).toEqual({ code: 1, broken: [] })
    expect(err).toContain('--yes')
  })

  test('a route that is not being deleted has no glass: nothing is asked', async () => {
    const state = { _tag: 'Serving', isGuarded: true, failure: undefined } as const
    const { argv, broken } = await world(anExplanation({ state }))
    const { code, out, err } = await runWithLine([...argv, '--yes'], 'shop/checkout')
    expect({ code, broken }).toEqual({ code: 1, broken: [] })
    expect(err).toContain('shop/checkout is not being deleted')
    expect(out).not.toContain('finalizer')
  })

  test('a route that others alone hold has no glass of ours', async () => {
    const { argv, broken } = await world(anExplanation({ state: { _tag: 'Released', sinceMs: 0 } }))
    const { code, err } = await runWithLine([...argv, '--yes'], 'shop/checkout')
    expect({ code, broken }).toEqual({ code: 1, broken: [] })
    expect(err).toContain('shop/checkout is not held by edgewright')
  })

  test('says that nothing was proven where no Envoy is known to owe anything', async () => {
    const admin = await adminOf({
      explain: () => [anExplanation()],
      breakGlass: () =>
        Promise.resolve({
          _tag: 'Broken',
          unconfirmed: [],
          waitedFor: { _tag: 'RosterUnsaved', message: 'EROFS' },
        }),
    })
    const { code, out } = await runWithLine(
      ['break-glass', 'shop/checkout', '--yes', ...admin],
      undefined,
    )
    expect(code).toBe(0)
    expect(out).toContain('It was not proven gone: the list of Envoys is not safe')
    expect(out).toContain('EROFS')
    expect(out).not.toContain('Every Envoy had confirmed')
  })

  test('another object that has come under the name while somebody was typing stays', async () => {
    const broken: Array<unknown> = []
    let uid = 'uid-1'
    const admin = await adminOf({
      explain: () => [anExplanation({ uid })],
      breakGlass: (name) => {
        broken.push(name)
        return Promise.resolve({ _tag: 'Broken', unconfirmed: [], waitedFor: undefined })
      },
    })
    let out = ''
    const { edgewright } = await import('../../src/host/cli/edgewright.js')
    const code = await edgewright(['break-glass', 'shop/checkout', ...admin], {
      out: () => undefined,
      err: (text) => void (out += text),
      readLine: () => {
        uid = 'uid-2'
        return Promise.resolve('shop/checkout')
      },
      color: false,
      env: {},
      signal: new AbortController().signal,
    })
    expect({ code, broken }).toEqual({ code: 1, broken: [] })
    expect(out).toContain('another object now')
  })
})

describe('every command', () => {
  const all = [
    ['explain', 'shop/checkout'],
    ['nodes'],
    ['forget', 'envoy-1'],
    ['break-glass', 'shop/checkout', '--yes'],
  ]

  test('has a help of its own, and is in the list of all', async () => {
    const { out: list } = await runCli(['--help'])
    for (const [command = ''] of all) {
      expect(list).toMatch(new RegExp(`^  ${command} {2,}\\S`, 'm'))
      const { code, out } = await runCli([command, '--help'])
      expect(code).toBe(0)
      expect(out).toContain(`Usage: edgewright ${command}`)
      expect(out).toContain('--admin HOST:PORT')
      for (const line of out.split('\n').filter((each) => each.startsWith('  ')))
        expect(line).toMatch(/^ {2}\S.*\S {2,}\S/)
    }
  })

  test.each(all)('%s says how to reach a control plane where none listens', async (...argv) => {
    const port = await portOf(createTcpServer())
    await cleanups.pop()?.()
    const { code, out, err } = await runCli([...argv, '--admin', `127.0.0.1:${port}`])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain(`no control plane listens on 127.0.0.1:${port}`)
    expect(err).toContain('edgewright serve')
    expect(err).toContain('--admin HOST:PORT')
  })

  test.each([
    ['HTML', (_, response) => void response.end('<html>')],
    ['other JSON', (_, response) => void response.end('{"version":1,"nodes":"many"}')],
    ['another version', (_, response) => void response.end('{"version":2,"routes":[]}')],
    ['an error of another kind', (_, response) => void response.writeHead(404).end('gone')],
    ['a redirect', (_, response) => void response.writeHead(302, { location: '/' }).end()],
  ] satisfies ReadonlyArray<[string, RequestListener]>)(
    'what answers with %s is no control plane of ours',
    async (_, handler) => {
      const port = await strangers(handler)
      for (const argv of all) {
        const { code, err } = await runCli([...argv, '--admin', `127.0.0.1:${port}`])
        expect(code).toBe(1)
        expect(err).toContain('is no admin endpoint of this version of edgewright')
      }
    },
  )

  test('what speaks no HTTP, or closes without a word, is said', async () => {
    const grpc = await portOf(
      createTcpServer((socket) => void socket.end('\u0000\u0000\u0012\u0004')),
    )
    const mute = await portOf(createTcpServer((socket) => void socket.end()))
    const at = async (port: number) => (await runCli(['nodes', '--admin', `127.0.0.1:${port}`])).err
    expect(await at(grpc)).toContain('is no admin endpoint')
    expect(await at(mute)).toContain('gave no answer')
  })

  test('an interruption ends the waiting for an answer', async () => {
    const port = await strangers(() => undefined)
    const stop = new AbortController()
    const running = runWithLine(['nodes', '--admin', `127.0.0.1:${port}`], undefined, stop.signal)
    stop.abort()
    expect(await running).toMatchObject({ code: 1, err: 'edgewright nodes: interrupted\n' })
  })

  test.each([
    ['explain', 'checkout'],
    ['explain', 'a/b/c'],
    ['explain', '/b'],
    ['break-glass', 'a/'],
    ['explain'],
    ['forget'],
    ['nodes', 'x'],
    ['nodes', '--admin', 'off'],
    ['nodes', '--admin', '127.0.0.1:0'],
    ['nodes', '--output', 'yaml'],
    ['forget', '-x'],
    ['forget', ''],
    ['forget', 'x'.repeat(5_000)],
  ])('%j %j is wrong usage: exit code 2', async (...argv) => {
    const { code, out, err } = await runCli(argv)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain('--help')
  })

  test('nothing that came from outside can speak to the terminal', async () => {
    const evil = 'a\u001b]0;x\u0007\u009b31m\u202e\u200b\n\r\u2028\u{e0001}'
    const node = aNode({
      ...{ id: evil, dataPlane: evil, since: evil, holdsUp: [evil] },
      lastSaid: { what: 'NACK', at: evil, version: evil, message: evil },
    })
    const condition = {
      type: 'Accepted',
      status: 'False',
      reason: evil,
      message: evil,
      observedGeneration: 1,
      lastTransitionTime: evil,
    } as const
    const explanation = anExplanation({
      key: { namespace: evil, name: evil },
      uid: evil,
      state: {
        _tag: 'Waiting',
        sinceMs: noonMs,
        waitsFor: { _tag: 'RosterUnsaved', message: evil },
      },
      conditions: [condition],
      owed: [node, { ...node, connected: false }],
    })
    const releasing = { _tag: 'Releasing', sinceMs: noonMs, returns: 1, failure: evil } as const
    const admin = await adminOf({
      explain: () => [explanation, { ...explanation, state: releasing }],
      nodes: () => [node],
      forget: () => Promise.resolve('Forgotten'),
      breakGlass: () =>
        Promise.resolve({
          _tag: 'Broken',
          unconfirmed: [evil],
          waitedFor: { _tag: 'Owed', nodes: [evil], nodeCount: 1 },
        }),
    })
    const failing = await adminOf({
      forget: () => Promise.resolve({ failure: evil }),
      explain: () => [explanation],
      breakGlass: () => Promise.resolve({ _tag: 'Failed', message: evil }),
    })
    for (const argv of [
      ['explain', `${evil}/${evil}`, ...admin],
      ['explain', `${evil}/${evil}`, '--output', 'json', ...admin],
      ['explain', evil, ...admin],
      ['nodes', ...admin],
      ['nodes', '--output', 'json', ...admin],
      ['forget', evil, ...admin],
      ['forget', evil, ...failing],
      ['break-glass', `${evil}/${evil}`, '--yes', ...admin],
      ['break-glass', `${evil}/${evil}`, '--yes', ...failing],
    ]) {
      const { out, err } = await runCli(argv)
      expect(out + err).not.toMatch(dangerous)
      expect(out + err).toMatch(/\\u\{?1b|\\u001b/)
      expect(out + err).not.toContain('\u2028')
    }
  })
})
