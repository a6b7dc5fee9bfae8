import { homedir } from 'node:os'
import { describe, expect, test } from 'vitest'
import type { DeletionFact } from '../../src/core/deletion.js'
import { maxNamedNodes, named } from '../../src/core/programmed/statement.js'
import { type Condition, showNotYet } from '../../src/core/status.js'
import { kubeConfigFrom } from '../../src/host/cli/cluster/connect.js'
import { clusterWords } from '../../src/host/cli/cluster/run.js'
import { countWaitedFor, waitedFor } from '../../src/host/cli/cluster/waiting.js'
import { eventOfDeletion, eventOfRoster } from '../../src/host/cli/serve/cluster-events.js'

describe('the Envoys that a condition names', () => {
  const condition = (given: Partial<Condition>): Condition => ({
    type: 'Deprogrammed',
    status: 'False',
    reason: 'WaitingForAck',
    message: '',
    observedGeneration: 1,
    lastTransitionTime: '2026-01-01T00:00:00Z',
    ...given,
  })

  test.each([1, 2, maxNamedNodes, maxNamedNodes + 1, maxNamedNodes + 30])(
    'are read back from what the core says of %d of them',
    (count) => {
      const ids = Array.from({ length: count }, (_, index) => `edge/envoy-${100 + index} and co/u`)
      const message = showNotYet({ _tag: 'Owed', ...named(ids) })
      expect(waitedFor([condition({ message })])).toEqual({
        nodes: ids.slice(0, maxNamedNodes),
        others: Math.max(0, count - maxNamedNodes),
      })
    },
  )

  test('are none where something else is waited for, or nothing', () => {
    expect(waitedFor([])).toBeUndefined()
    expect(waitedFor([condition({ reason: 'Starting' })])).toBeUndefined()
    expect(waitedFor([condition({ status: 'True', reason: 'Deprogrammed' })])).toBeUndefined()
    expect(waitedFor([condition({ type: 'Programmed' })])).toBeUndefined()
  })

  test('are somebody, where the words are those of another version', () => {
    expect(waitedFor([condition({ message: 'not as we say it' })])).toEqual({
      nodes: [],
      others: undefined,
    })
  })

  test('are at least those, where the words were cut short', () => {
    const cut = waitedFor([condition({ message: 'not yet confirmed by envoy-1, envoy-2, env…' })])
    expect(cut).toEqual({ nodes: ['envoy-1', 'envoy-2'], others: undefined })
    expect(cut && countWaitedFor(cut)).toBe('at least 3 Envoys')
  })
})

describe('where credentials come from', () => {
  const pod = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '6443' }
  const inPod = { _tag: 'InCluster', host: '10.96.0.1', port: '6443' }
  const files = (...paths: ReadonlyArray<string>) => ({ _tag: 'Files', paths, context: undefined })

  test.each([
    ['what is named', 'f', { KUBECONFIG: '/a', ...pod }, files('f')],
    ['the environment', undefined, { KUBECONFIG: '/a:/b:', ...pod }, files('/a', '/b')],
    ['the Pod', undefined, { KUBECONFIG: '', HOME: '/home/me', ...pod }, inPod],
    ['the home', undefined, { HOME: '/home/me' }, files('/home/me/.kube/config')],
    ['the home of the system', undefined, {}, files(`${homedir()}/.kube/config`)],
  ])('%s', (_, kubeconfig, env, expected) => {
    expect(kubeConfigFrom({ kubeconfig, context: undefined }, env)).toEqual(expected)
  })

  test('a Pod whose port nobody names is asked on that of HTTPS', () => {
    const env = { KUBERNETES_SERVICE_HOST: '10.96.0.1' }
    const from = kubeConfigFrom({ kubeconfig: undefined, context: undefined }, env)
    expect(from).toEqual({ ...inPod, port: '443' })
  })

  test('a context is one of a kubeconfig, also in a Pod', () => {
    const from = kubeConfigFrom({ kubeconfig: undefined, context: 'c' }, { HOME: '/h', ...pod })
    expect(from).toEqual({ _tag: 'Files', paths: ['/h/.kube/config'], context: 'c' })
  })
})

test.each([
  [{}, ' --kubernetes'],
  [{ context: 'my prod' }, " --context 'my prod'"],
  [{ kubeconfig: 'f', context: 'c' }, ' --kubeconfig f --context c'],
  [{ ownNamespace: 'edge' }, ' --kubernetes --own-namespace edge'],
])('of a cluster that is %j, a command that is proposed has the options%s', (given, words) => {
  const none = { kubeconfig: undefined, context: undefined, ownNamespace: undefined }
  expect(clusterWords({ ...none, ...given })).toBe(words)
})

describe('Events', () => {
  const record = { key: { namespace: 'shop', name: 'checkout' }, uid: 'uid-1', generation: 1 }
  const of = (fact: DeletionFact) => eventOfDeletion({ record, fact })

  test('a glass that was broken names those who had not confirmed, of that very object', () => {
    const waitedFor = { _tag: 'Owed', nodes: ['envoy-1', 'envoy-2'], nodeCount: 3 } as const
    expect(of({ _tag: 'GlassBroken', waitedFor })).toEqual({
      regarding: {
        apiVersion: 'net.10xdev.io/v1',
        kind: 'EdgeRoute',
        namespace: 'shop',
        name: 'checkout',
        uid: 'uid-1',
      },
      type: 'Warning',
      reason: 'GlassBroken',
      action: 'Deprogramming',
      note: 'gone before it was proven that no Envoy serves it: not yet confirmed by envoy-1, envoy-2 and 1 more',
    })
  })

  test('what is proven gone is told, and what is only withdrawn says so itself', () => {
    expect(of({ _tag: 'Proven' })).toMatchObject({ type: 'Normal', reason: 'Deprogrammed' })
    expect(of({ _tag: 'Withdrawn' })).toBeUndefined()
  })

  test.each([
    ['Person', 'a person has said'],
    ['Pod', 'its Pod is gone'],
    ['Time', '--forget-node-after'],
  ] as const)('a node that is forgotten by %s is a warning', (by, words) => {
    const roster = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'edge', name: 'nodes' }
    const event = eventOfRoster({ _tag: 'NodeForgotten', id: 'envoy-1', by }, roster)
    expect(event).toMatchObject({ type: 'Warning', reason: 'NodeForgotten', regarding: roster })
    expect(event?.note).toContain('envoy-1')
    expect(event?.note).toContain(words)
    expect(eventOfRoster({ _tag: 'SavedAgain' }, roster)).toBeUndefined()
  })
})
