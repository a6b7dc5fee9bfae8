import * as E from 'fp-ts/lib/Either.js'
import { expect, test } from 'vitest'
import { memoryLogger, memoryMetrics } from '../../src/adapters/memory/index.js'
import { steppingClock } from '../../src/adapters/memory/stepping-clock.js'
import { type Context, defaultContext } from '../../src/core/context.js'
import { defaultDataPlane, type EdgeRoute } from '../../src/core/edge-route.js'
import { formLimits } from '../../src/core/form-choice.js'
import type { Snapshot } from '../../src/core/snapshot.js'
import { type TableForm, wholeForm } from '../../src/core/table-form.js'
import { snapshotOf } from '../../src/core/translate.js'
import { type ControllerPorts, runController } from '../../src/host/controller.js'
import { auditEveryMs } from '../../src/host/keep-audit.js'
import type { SourceState } from '../../src/ports/route-source.js'
import { inForms } from '../support/forms.js'
import { contentOf } from '../support/oracle/content.js'

const [defaults] = [...defaultContext.dataPlanes.values()]
const dataPlanes = new Map([
  [defaultDataPlane, { listeners: defaults?.listeners ?? [], shards: 3 }],
])
const context = { ...defaultContext, dataPlanes }
const limits = { up: 3, down: 2, restMs: formLimits.restMs }

const route = (name: string): EdgeRoute => ({
  metadata: { namespace: 'test', name, uid: name, generation: 1, finalizers: [] },
  spec: { hostnames: [`${name}.test`], respond: { code: 204 } },
})

const routes = ['a', 'b', 'c', 'd'].map(route)

/** What is to be published of the first of these routes. */
const expected = (count: number, form: TableForm['_tag']): string =>
  contentOf(snapshotOf(routes.slice(0, count), { ...context, dataPlanes: planesIn(form) }))

const planesIn = (form: TableForm['_tag']): Context['dataPlanes'] =>
  inForms(
    dataPlanes,
    new Map([[defaultDataPlane, form === 'Whole' ? wholeForm : { _tag: form, shards: 3 }]]),
  )

const stage = (more: Partial<ControllerPorts> = {}) => {
  const clock = steppingClock(0)
  const [logger, metrics] = [memoryLogger(), memoryMetrics()]
  const published: Array<Snapshot> = []
  const stop = new AbortController()
  let tell: (state: SourceState) => void = () => undefined
  const source: ControllerPorts['source'] = {
    watch: (onState, signal) => () =>
      new Promise((resolve) => {
        tell = onState
        signal.addEventListener('abort', () => resolve(E.right(undefined)))
      }),
  }
  const sink = { publish: (snapshot: Snapshot): void => void published.push(snapshot) }
  const ports = { source, sink, clock, logger, metrics, context, formLimits: limits, ...more }
  const ended = runController(ports, stop.signal)
  const pass = async (ms: number): Promise<void> => {
    const end = clock.nowMs() + ms
    for (;;) {
      for (let i = 0; i < 20; i++) await Promise.resolve()
      if (!clock.runNext(end)) return clock.moveTo(end)
    }
  }
  const see = async (count: number): Promise<void> => {
    tell({ routes: routes.slice(0, count), problems: [] })
    await pass(1)
  }
  const finish = async (): Promise<void> => {
    stop.abort()
    await ended
  }
  return {
    published,
    logger,
    metrics,
    pass,
    see,
    finish,
    tell: (state: SourceState) => tell(state),
  }
}

const shards = (metrics: ReturnType<typeof memoryMetrics>): number | undefined =>
  metrics.value('edgewright_route_table_shards', { data_plane: defaultDataPlane })

test('tables are published in the form that so many hosts are to have, once for each change', async () => {
  const { published, metrics, see, finish } = stage()
  for (const count of [2, 3, 4, 2]) await see(count)
  expect(published.map(contentOf)).toEqual([
    expected(2, 'Whole'),
    expected(3, 'Sharded'),
    expected(4, 'Sharded'),
    expected(2, 'Sharded'),
  ])
  expect(shards(metrics)).toBe(3)
  await finish()
})

test('a switch that has to wait takes place when it is time, and each is told once', async () => {
  const { published, logger, metrics, pass, see, finish } = stage()
  await see(1)
  await see(3)
  await see(1)
  await pass(limits.restMs - 10)
  expect(published.map(contentOf).at(-1)).toBe(expected(1, 'Sharded'))
  await pass(20)
  expect(published.map(contentOf).slice(2)).toEqual([expected(1, 'Sharded'), expected(1, 'Whole')])
  expect(shards(metrics)).toBe(0)
  const told = logger.entries().filter(({ message }) => message.startsWith('the hosts are'))
  expect(told.map(({ fields }) => fields)).toEqual([
    { dataPlane: defaultDataPlane, shards: 3, hosts: 3 },
    { dataPlane: defaultDataPlane, shards: 0, hosts: 1 },
  ])
  await finish()
})

test('an audit expects the form that is in force', async () => {
  const { published, logger, metrics, pass, see, finish } = stage()
  await see(4)
  await pass(auditEveryMs * 2)
  expect(metrics.value('edgewright_audits_total', { result: 'same' })).toBe(1)
  expect(logger.entries().filter(({ level }) => level === 'error')).toEqual([])
  expect(published).toHaveLength(1)
  await finish()
})

test('what is made anew after an audit has the form that is in force', async () => {
  const { published, metrics, pass, tell, finish } = stage()
  const web = (name: string): EdgeRoute => ({
    ...route(name),
    spec: { hostnames: [`${name}.test`], backends: [{ service: { name: 'web', port: 80 } }] },
  })
  const endpoints = [{ addresses: ['10.0.0.1'], ready: true }]
  const ports = [{ name: '', port: 80 }]
  const backends = {
    services: [{ namespace: 'test', name: 'web', ports }],
    endpointSlices: [{ namespace: 'test', name: 'web', service: 'web', ports, endpoints }],
  }
  const own = ['a', 'b', 'c'].map(web)
  tell({ routes: own, problems: [], backends })
  await pass(1)
  endpoints.push({ addresses: ['10.0.0.2'], ready: true })
  await pass(auditEveryMs * 2)
  expect(metrics.value('edgewright_audits_total', { result: 'different' })).toBe(1)
  const dataPlanes = planesIn('Sharded')
  const whole = snapshotOf(own, { ...context, ...backends, dataPlanes })
  expect(published.map(contentOf).at(-1)).toBe(contentOf(whole))
  await finish()
})
