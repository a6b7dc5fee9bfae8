import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { finalizer } from '../../src/core/stored-object.js'
import { filesIn, type Finished, runCli } from '../support/cli.js'
import { type CliApiServer, kubeconfigFor, startCliApiServer } from '../support/cli-api-server.js'
import { runWithLine } from '../support/fake-operator.js'

const cleanups: Array<() => Promise<void> | void> = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

let api: CliApiServer
let kubeconfig: string
beforeEach(async () => {
  api = await startCliApiServer()
  cleanups.push(api.stop)
  const { directory, dispose } = filesIn({ config: api.kubeconfig })
  cleanups.push(dispose)
  kubeconfig = join(directory, 'config')
})

const routesPath = '/apis/net.10xdev.io/v1/namespaces/shop/edgeroutes'

const run = (...argv: ReadonlyArray<string>): Promise<Finished> =>
  runCli([...argv, '--kubeconfig', kubeconfig])

const condition = (type: string, status: string, reason: string, message = '') => ({
  type,
  status,
  reason,
  message,
  observedGeneration: 1,
  lastTransitionTime: '2026-01-01T00:00:00Z',
})

const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' }

/** Puts a route there, which our finalizer holds. */
const route = (
  name: string,
  metadata: Readonly<Record<string, unknown>> = {},
  ...conditions: ReadonlyArray<ReturnType<typeof condition>>
) =>
  api.put(`${routesPath}/${name}`, {
    metadata: { finalizers: [finalizer], ...metadata },
    spec: { respond: { code: 200 } },
    status: { conditions },
  })

const waitingFor = (nodes: string) =>
  condition('Deprogrammed', 'False', 'WaitingForAck', `not yet confirmed by ${nodes}`)

/** A control plane that has renewed its Lease so many seconds ago. */
const lease = (renewedSecondsAgo: number, namespace = 'edgewright'): void => {
  api.put(`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/edgewright`, {
    metadata: { labels: { 'app.kubernetes.io/managed-by': 'edgewright' } },
    spec: {
      holderIdentity: 'edgewright-1',
      leaseDurationSeconds: 15,
      renewTime: new Date(Date.now() - renewedSecondsAgo * 1_000).toISOString(),
    },
  })
}

describe('explain --kubernetes', () => {
  test('shows what the object says, and whether a control plane is at work', async () => {
    lease(1)
    const { metadata } = route(
      'checkout',
      {},
      condition('Accepted', 'True', 'Accepted'),
      condition('Programmed', 'True', 'Programmed'),
    )
    const { code, out, err } = await run('explain', 'shop/checkout')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    for (const words of [
      'shop/checkout is served everywhere',
      `uid        ${metadata.uid}`,
      `finalizers ${finalizer}`,
      'conditions Accepted=True Accepted',
      '           Programmed=True Programmed',
      'control    at work (edgewright-1)',
    ])
      expect(out).toContain(words)
    expect(out).not.toContain('What to do')
  })

  test.each([['explain', 'shop/checkout'], ['nodes']])(
    'says when a control plane that counts as being at work was last heard of: %s',
    async (...argv) => {
      lease(5)
      route('checkout')
      const { out } = await run(...argv)
      expect(out).toMatch(/at work \(edgewright-1\), last heard of [5-9]s ago/)
    },
  )

  test('says of what the conditions tell that it may be so no more', async () => {
    const conditions = [
      condition('Accepted', 'True', 'Accepted'),
      condition('Programmed', 'True', 'Programmed'),
    ]
    route('checkout', {}, ...conditions)
    expect((await run('explain', 'shop/checkout')).out).toContain(
      'shop/checkout is served everywhere; so it was when a control plane was last at work\n',
    )
    lease(1)
    route('checkout', { generation: 2 }, ...conditions)
    expect((await run('explain', 'shop/checkout')).out).toContain(
      'shop/checkout is served everywhere; its last change is not looked at yet\n',
    )
  })

  test('names the Envoys that a deletion waits for, and what to do', async () => {
    lease(1)
    const uid = '00000000-0000-0000-0000-000000000001'
    route(
      'checkout',
      { ...deleted, finalizers: ['other.example/x', finalizer] },
      waitingFor(`edge/envoy-a/${uid}, b and 3 more`),
    )
    const { code, out } = await run('explain', 'shop/checkout')
    expect(code).toBe(0)
    for (const words of [
      'shop/checkout is Terminating, and waits for 5 Envoys that may still serve it',
      'deleted    2026-01-01T00:00:00Z',
      `finalizers other.example/x, ${finalizer}`,
      `Deprogrammed=False WaitingForAck: not yet confirmed by edge/envoy-a/${uid}, b and 3 more`,
      'That of deploy/: kubectl --namespace edgewright exec deploy/edgewright -- edgewright explain shop/checkout',
      'Any other, on its host: edgewright explain shop/checkout',
      `edgewright forget edge/envoy-a/${uid} --kubeconfig ${kubeconfig}`,
      `edgewright break-glass shop/checkout --kubeconfig ${kubeconfig}`,
    ])
      expect(out).toContain(words)
  })

  test.each([
    [undefined, 'none is at work in the namespace edgewright'],
    [3_600, 'edgewright-1 has not been heard of for too long, last 1h'],
  ])('a control plane that is not at work is to be started (%j)', async (secondsAgo, words) => {
    if (secondsAgo !== undefined) lease(secondsAgo)
    route('checkout', deleted, waitingFor('b'))
    const { out } = await run('explain', 'shop/checkout')
    expect(out).toContain(words)
    expect(out).toContain('Start the control plane')
    expect(out).toContain('That of deploy/: kubectl apply -k deploy')
    expect(out).toContain(`Any other, where it ran: edgewright serve --kubeconfig ${kubeconfig}`)
    expect(out).toContain('edgewright break-glass shop/checkout')
    expect(out).not.toContain('edgewright forget')
  })

  test.each([
    [{ finalizers: [] }, [], 'is not served before it has the finalizer'],
    [
      { ...deleted, finalizers: ['other.example/x'] },
      [],
      'is Terminating, and something else than edgewright holds it',
    ],
    [deleted, [], 'does not say yet what it waits for'],
    [
      deleted,
      [condition('Deprogrammed', 'True', 'Deprogrammed', 'no Envoy serves it')],
      'gone from every Envoy; the finalizer net.10xdev.io/deprogram is being taken off',
    ],
    [
      deleted,
      [condition('Deprogrammed', 'False', 'Starting', 'has started a moment ago')],
      'is Terminating, and has started a moment ago',
    ],
  ])('of the metadata %j and the conditions %j it says %s', async (metadata, conditions, words) => {
    lease(1)
    route('checkout', metadata, ...conditions)
    expect((await run('explain', 'shop/checkout')).out).toContain(words)
  })

  test('where the finalizer cannot be taken off there is no glass to be broken', async () => {
    const message = 'no Envoy serves it; the finalizer cannot be taken off: 403: cannot patch'
    lease(1)
    route('checkout', deleted, condition('Deprogrammed', 'True', 'Deprogrammed', message))
    const { out } = await run('explain', 'shop/checkout')
    expect(out).toContain('If it lacks a permission: kubectl apply -k deploy')
    expect(out).not.toContain('break-glass')
  })

  test.each([['explain', 'shop/checkout'], ['break-glass', 'shop/checkout', '--yes'], ['nodes']])(
    'without the definition of EdgeRoute %s says how it is installed',
    async (...argv) => {
      lease(1)
      api.refuse = (_, path) => (path.includes('/edgeroutes') ? [404, 'page not found'] : undefined)
      const { code, out, err } = await run(...argv)
      expect({ code, out }).toEqual({ code: 1, out: '' })
      expect(err).toContain('EdgeRoute is not defined in this cluster')
      expect(err).toContain('kubectl apply -k deploy')
    },
  )

  test('as JSON it is a document', async () => {
    lease(1)
    route('checkout', deleted, waitingFor('b'))
    const { code, out } = await run('explain', 'shop/checkout', '--output', 'json')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      version: 1,
      controlPlane: { state: 'Live', holder: 'edgewright-1' },
      routes: [
        {
          namespace: 'shop',
          name: 'checkout',
          state: 'Terminating',
          finalizers: [finalizer],
          conditions: [{ reason: 'WaitingForAck' }],
        },
      ],
    })
  })

  test('no such route is exit code 1', async () => {
    route('checkout2')
    const { code, out, err } = await run('explain', 'shop/checkout')
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toBe('edgewright explain: no object has the name shop/checkout\n')
  })

  test('what the API server refuses is told in its words', async () => {
    api.refuse = (_, path) => (path === routesPath ? [403, 'me cannot list edgeroutes'] : undefined)
    const { code, err } = await run('explain', 'shop/checkout')
    expect(code).toBe(1)
    expect(err).toContain('403: me cannot list edgeroutes')
  })
})

describe('nodes --kubernetes', () => {
  const uid = '00000000-0000-0000-0000-000000000001'
  const other = '00000000-0000-0000-0000-000000000002'

  test('lists whom deletions wait for, and what became of their Pods', async () => {
    lease(1)
    api.put('/api/v1/namespaces/edge/pods/envoy-a', {
      metadata: { uid },
      status: { phase: 'Running' },
    })
    api.put('/api/v1/namespaces/edge/pods/envoy-b', {
      metadata: { uid },
      status: { phase: 'Running' },
    })
    const ids = [`edge/envoy-a/${uid}`, `edge/envoy-b/${other}`, 'by-hand']
    await keepRoster(ids)
    route('checkout', deleted, waitingFor(`${ids[1] ?? ''}, gone and 2 more`))
    const { code, out, err } = await run('nodes')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const cells = out.split('\n').map((line) => line.split(/ {2,}/))
    expect(cells.map(([id, , , pod, holdsUp]) => [id, pod, holdsUp])).toEqual([
      ['ID', 'POD', 'HOLDS UP'],
      [ids[1], 'Gone', 'shop/checkout'],
      ['by-hand', '-', '-'],
      [ids[0], 'Running', '-'],
      ['1 route waits for more Envoys than its condition names.', undefined, undefined],
      ['', undefined, undefined],
      [
        expect.stringContaining('Control plane: at work (edgewright-1), last'),
        undefined,
        undefined,
      ],
      ['', undefined, undefined],
    ])
  })

  test('as JSON it is a document', async () => {
    await keepRoster([`edge/envoy-a/${uid}`])
    const { code, out } = await run('nodes', '--output', 'json')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      version: 1,
      controlPlane: { state: 'Absent' },
      nodes: [{ id: `edge/envoy-a/${uid}`, pod: { phase: 'Gone' }, holdsUp: [] }],
    })
  })

  test('Pods that nobody may read are unknown, and the rest is told', async () => {
    await keepRoster([`edge/envoy-a/${uid}`])
    api.refuse = (_, path) => (path.includes('/pods') ? [403, 'no'] : undefined)
    const { code, out } = await run('nodes')
    expect(code).toBe(0)
    expect(out).toContain('Unknown')
  })

  test('none at all is said', async () => {
    const { code, out } = await run('nodes')
    expect(code).toBe(0)
    expect(out).toContain('No Envoy is known.')
    expect(out).toContain('Control plane: none is at work in the namespace edgewright.')
  })
})

/** Writes a roster as the control plane does. */
const keepRoster = async (ids: ReadonlyArray<string>): Promise<void> => {
  const { kubernetesRosterStore, loadKubeConfig, connectKubernetes } =
    await import('../../src/adapters/k8s/index.js')
  const kubeConfig = await loadKubeConfig({ _tag: 'Files', paths: [kubeconfig] })
  if (kubeConfig._tag === 'Left') throw new Error(kubeConfig.left)
  const client = connectKubernetes({ kubeConfig: kubeConfig.right })
  const entry = { cluster: 'edge-envoy', sinceMs: 0, isShared: false, doubts: {} }
  const roster = new Map(ids.map((id) => [id, { id, ...entry }]))
  const store = kubernetesRosterStore(client, { namespace: 'edgewright' })
  await store.load()()
  await store.save(roster)()
  client.close()
}

describe('break-glass --kubernetes', () => {
  const argv = (...more: ReadonlyArray<string>) => [
    ...['break-glass', 'shop/checkout', '--kubeconfig', kubeconfig],
    ...more,
  ]

  test('asks for the name, takes our finalizer off and no other one, and says who had not confirmed', async () => {
    route('checkout', { ...deleted, finalizers: ['a.example/x', finalizer] }, waitingFor('b, c'))
    const { code, out } = await runWithLine(argv(), 'shop/checkout')
    expect(code).toBe(0)
    const places = [
      'waits for 2 Envoys that may still serve it',
      'They may go on sending its requests to its backends',
      'Type the name of the route',
      'shop/checkout is released.',
      '2 Envoys had not confirmed: b, c',
    ].map((words) => out.indexOf(words))
    expect(places).not.toContain(-1)
    expect([...places].sort((a, b) => a - b)).toEqual(places)
    expect(api.get(`${routesPath}/checkout`)?.metadata.finalizers).toEqual(['a.example/x'])
  })

  test('lets the object go where nothing else holds it, without asking if told so', async () => {
    route('checkout', deleted)
    const { code, out } = await runCli(argv('--yes'))
    expect(code).toBe(0)
    expect(out).toContain('It was not proven gone: nothing had been said of it yet.')
    expect(api.get(`${routesPath}/checkout`)).toBeUndefined()
  })

  test.each([
    ['shop/checkout2', 'this is not the name'],
    ['', 'this is not the name'],
    [undefined, 'the name of the route was not typed'],
  ])('%j in place of the name does nothing: exit code 1', async (line, message) => {
    route('checkout', deleted)
    const { code, err } = await runWithLine(argv(), line)
    expect(code).toBe(1)
    expect(err).toContain(message)
    expect(api.get(`${routesPath}/checkout`)?.metadata.finalizers).toEqual([finalizer])
    expect(api.asked.filter((each) => !each.startsWith('GET'))).toEqual([])
  })

  test.each([
    [{}, 'is not being deleted'],
    [{ ...deleted, finalizers: ['a.example/x'] }, 'is not held by edgewright'],
  ])('with the metadata %j there is nothing to break', async (metadata, message) => {
    route('checkout', metadata)
    const { code, err } = await runCli(argv('--yes'))
    expect(code).toBe(1)
    expect(err).toContain(message)
    expect(api.asked.filter((each) => !each.startsWith('GET'))).toEqual([])
  })

  test('an object that somebody writes to meanwhile is tried again', async () => {
    route('checkout', deleted)
    let patches = 0
    api.refuse = (method) => {
      patches += method === 'PATCH' ? 1 : 0
      if (method === 'PATCH' && patches === 1) route('checkout', deleted, waitingFor('b'))
      return undefined
    }
    const { code, out } = await runCli(argv('--yes'))
    expect({ code, patches }).toEqual({ code: 0, patches: 2 })
    expect(out).toContain('1 Envoy had not confirmed: b')
  })

  test.each([
    ['before the write', 'PATCH', 1],
    ['before a second one', 'GET', 2],
  ])('another object that comes under the name %s stays', async (_, when, looks) => {
    route('checkout', deleted)
    let patches = 0
    let lists = 0
    api.refuse = (method, path) => {
      patches += method === 'PATCH' ? 1 : 0
      lists += method === 'GET' && path === routesPath ? 1 : 0
      if (method === 'PATCH' && when === 'GET') route('checkout', deleted, waitingFor('b'))
      if ((method === 'PATCH' && when === 'PATCH') || (patches === 1 && lists === 2)) {
        api.remove(`${routesPath}/checkout`)
        route('checkout', deleted)
      }
      return undefined
    }
    expect((await runCli(argv('--yes'))).code).toBe(0)
    expect({ patches, lists }).toEqual({ patches: 1, lists: looks })
    expect(api.get(`${routesPath}/checkout`)?.metadata.finalizers).toEqual([finalizer])
  })

  test('a write that is refused is said', async () => {
    route('checkout', deleted)
    api.refuse = (method) => (method === 'PATCH' ? [403, 'me cannot patch'] : undefined)
    const { code, err } = await runCli(argv('--yes'))
    expect(code).toBe(1)
    expect(err).toContain('me cannot patch')
  })
})

describe('forget --kubernetes', () => {
  test('says that nobody is there to forget, and leaves no wish behind', async () => {
    for (const renewed of [undefined, 3_600]) {
      if (renewed !== undefined) lease(renewed)
      const { code, out, err } = await run('forget', 'envoy-1')
      expect({ code, out }).toEqual({ code: 1, out: '' })
      expect(err).toContain('envoy-1: only a control plane that is at work can forget it')
    }
    expect(api.asked.filter((each) => !each.startsWith('GET'))).toEqual([])
  })
})

test.each([
  ['', 'it is empty'],
  ['x'.repeat(5_000), 'at most 1024 characters; this one has 5000'],
])('an id that no Envoy can have is refused before anybody is asked: %#', async (id, words) => {
  lease(1)
  const { code, err } = await run('forget', id)
  expect(code).toBe(2)
  expect(err).toContain(words)
  expect(api.asked).toEqual([])
})

describe('uninstall', () => {
  const argv = (...more: ReadonlyArray<string>) => [
    ...['uninstall', '--kubeconfig', kubeconfig],
    ...more,
  ]
  const finalizers = (name: string) => api.get(`${routesPath}/${name}`)?.metadata.finalizers

  test('takes our finalizer off every route once the word is typed, and says of how many', async () => {
    route('one')
    route('two', { finalizers: ['a.example/x', finalizer] })
    route('three', { finalizers: [] })
    route('four', deleted)
    const { code, out } = await runWithLine(argv(), 'uninstall')
    expect(code).toBe(0)
    expect(out.indexOf('go on serving what')).toBeLessThan(out.indexOf('Type uninstall'))
    expect(out).toContain('3 routes')
    expect(finalizers('one')).toEqual([])
    expect(finalizers('two')).toEqual(['a.example/x'])
    expect(api.get(`${routesPath}/four`)).toBeUndefined()
  })

  test.each([
    [undefined, 'the word uninstall was not typed, nothing is done'],
    ['yes', 'this is not the word uninstall, nothing is done'],
  ])('%j in place of the word does nothing', async (line, message) => {
    route('one')
    const { code, err } = await runWithLine(argv(), line)
    expect({ code, finalizers: finalizers('one') }).toEqual({ code: 1, finalizers: [finalizer] })
    expect(err).toContain(message)
  })

  test('says that no route had our finalizer, but not where nobody could look', async () => {
    route('three', { finalizers: [] })
    const words = 'No route had our finalizer.'
    expect(await runCli(argv('--yes'))).toMatchObject({
      code: 0,
      out: expect.stringContaining(words) as string,
    })
    api.refuse = (_, path) => (path.includes('/edgeroutes') ? [403, 'me cannot'] : undefined)
    const { code, out } = await runCli(argv('--yes'))
    expect(code).toBe(1)
    expect(out).not.toContain(words)
  })

  test('is refused while a control plane is at work, whatever is agreed to', async () => {
    lease(1)
    route('one')
    const { code, err } = await runCli(argv('--yes'))
    expect(code).toBe(1)
    expect(err).toContain('at work (edgewright-1)')
    expect(finalizers('one')).toEqual([finalizer])
  })

  test('is refused while one is at work in whatever namespace', async () => {
    lease(1, 'infra')
    route('one')
    const { code, err } = await runCli(argv('--yes', '--own-namespace', 'attic'))
    expect(code).toBe(1)
    expect(err).toContain('That of deploy/: kubectl --namespace infra delete deployment edgewright')
    expect(err).toContain('Any other: end the process, on the host that its name begins with')
    expect(finalizers('one')).toEqual([finalizer])
  })

  test('is refused where nobody can tell whether one is', async () => {
    api.refuse = (_, path) => (path.includes('/leases') ? [403, 'no'] : undefined)
    route('one')
    expect((await runCli(argv('--yes'))).code).toBe(1)
    expect(finalizers('one')).toEqual([finalizer])
  })

  const policiesPath = '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies'
  const policy = (name: string, about: string) =>
    api.put(`${policiesPath}/${name}`, {
      metadata: { name },
      spec: { mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: `["${about}"]` } }] },
    })

  test('is refused while a policy puts our finalizer on new routes, however it is called', async () => {
    policy('foreign', 'a.example/x')
    policy('blue-at-birth', finalizer)
    route('one')
    const { code, err } = await runCli(argv('--yes'))
    expect(code).toBe(1)
    expect(err).toMatch(/kubectl delete .*mutatingadmissionpolicies.* blue-at-birth$/m)
    expect(err).not.toContain('foreign')
    expect(finalizers('one')).toEqual([finalizer])
    api.remove(`${policiesPath}/blue-at-birth`)
    expect((await runCli(argv('--yes'))).code).toBe(0)
    expect(finalizers('one')).toEqual([])
  })

  test('says so where policies cannot be looked at, and goes on', async () => {
    api.refuse = (_, path) => (path === policiesPath ? [403, 'me cannot list'] : undefined)
    route('one')
    const { code, out } = await runCli(argv('--yes'))
    expect(code).toBe(0)
    expect(out).toContain('me cannot list')
    expect(out).toContain('kubectl delete -k deploy/at-birth')
    expect(finalizers('one')).toEqual([])
  })

  test('knows that an API server without such policies has none', async () => {
    api.refuse = (_, path) => (path === policiesPath ? [404, 'page not found'] : undefined)
    route('one')
    const { code, out } = await runCli(argv('--yes'))
    expect(code).toBe(0)
    expect(out).not.toContain('at-birth')
  })

  test('does nothing without the word', async () => {
    route('one')
    const { code, err } = await runWithLine(argv(), 'yes')
    expect(code).toBe(1)
    expect(err).toContain('nothing is done')
    expect(finalizers('one')).toEqual([finalizer])
  })

  test('leaves other namespaces alone where some are named', async () => {
    route('one')
    expect((await runCli(argv('--yes', '--namespace', 'other'))).code).toBe(0)
    expect(finalizers('one')).toEqual([finalizer])
    expect((await runCli(argv('--yes', '--namespace', 'shop'))).code).toBe(0)
    expect(finalizers('one')).toEqual([])
  })

  test('ends with 1 where some are left, and says so', async () => {
    route('one')
    api.refuse = (method) => (method === 'PATCH' ? [403, 'me cannot patch'] : undefined)
    const { code, err } = await runCli(argv('--yes'))
    expect(code).toBe(1)
    expect(err).toContain('me cannot patch')
  })
})

describe('every command', () => {
  const all = [
    ['explain', 'shop/checkout'],
    ['nodes'],
    ['forget', 'envoy-1'],
    ['break-glass', 'shop/checkout', '--yes'],
    ['uninstall', '--yes'],
  ]

  test.each(all)('%s says where no API server answers', async (...argv) => {
    const { directory, dispose } = filesIn({ config: kubeconfigFor('http://127.0.0.1:1') })
    cleanups.push(dispose)
    const { code, out, err } = await runCli([...argv, '--kubeconfig', join(directory, 'config')])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain('127.0.0.1:1')
  })

  test.each(all)('%s says what is wrong with the kubeconfig', async (...argv) => {
    writeFileSync(kubeconfig, 'nothing of that kind')
    const { code, err } = await run(...argv)
    expect(code).toBe(1)
    expect(err).toContain(kubeconfig)
    const missing = await runCli([...argv, '--kubeconfig', '/no/such/file'])
    expect(missing.code).toBe(1)
    expect(missing.err).toContain('/no/such/file')
  })

  test.each([
    [['explain', 'a/b', '--kubernetes', '--admin', '127.0.0.1:1'], 'two ways to ask'],
    [['nodes', '--context', 'c', '--admin', '127.0.0.1:1'], '--admin and --context'],
    [['nodes', '--own-namespace', 'a'], '--own-namespace goes with --kubernetes only'],
    [['nodes', '--kubernetes', '--own-namespace', 'A b'], '--own-namespace must'],
    [['uninstall', '--namespace', 'A b'], '--namespace must'],
    [['explain', 'a', '--kubernetes'], 'should be NAMESPACE/NAME'],
  ])('%j is wrong usage: exit code 2', async (argv, message) => {
    const { code, out, err } = await runCli(argv)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(message)
  })

  test('a context of the kubeconfig can be chosen, and one that is not there is refused', async () => {
    route('checkout')
    expect((await run('explain', 'shop/checkout', '--context', 'here')).code).toBe(0)
    const { code, err } = await run('explain', 'shop/checkout', '--context', 'there')
    expect(code).toBe(1)
    expect(err).toContain('there')
  })

  test('nothing that came from outside can speak to the terminal', async () => {
    const evil = 'a\u001b]0;x\u0007\u009b31m\u202e\u200b\n\r\u2028\u{e0001}'
    lease(1)
    route(
      'checkout',
      { ...deleted, finalizers: [evil, finalizer] },
      {
        ...waitingFor(evil),
        lastTransitionTime: evil,
      },
    )
    for (const argv of [
      ['explain', 'shop/checkout'],
      ['explain', 'shop/checkout', '--output', 'json'],
      ['break-glass', 'shop/checkout', '--yes'],
    ]) {
      const { out, err } = await run(...argv)
      expect(out + err).not.toMatch(/[^\P{C}\n]/u)
      expect(out + err).not.toContain('\u2028')
      expect(out + err).toMatch(/\\u\{?1b|\\u001b/)
    }
  })
})
