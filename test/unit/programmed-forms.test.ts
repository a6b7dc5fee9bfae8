import { describe, expect, test } from 'vitest'
import type { EdgeRoute } from '../../src/core/edge-route.js'
import { ledgerOf, mayStillServe } from '../../src/core/ledger.js'
import { lagGraceMs, nothingProgrammed, stepProgrammed } from '../../src/core/programmed.js'
import { progressOf } from '../../src/core/progress.js'
import { shardTable, type TableForm, wholeForm } from '../../src/core/table-form.js'
import { emptyWorld, translator, worldChange } from '../../src/core/translator.js'
import {
  clusterType,
  listenerType,
  routeType,
  scopeType,
  type TypeUrl,
} from '../../src/core/type-url.js'
import { openFleet, step } from '../../src/core/xds/fleet.js'
import type { Response, Variant } from '../../src/core/xds/messages.js'
import { variants } from '../support/xds.js'

const shards = 3
const sharded: TableForm = { _tag: 'Sharded', shards }
const shardTables = Array.from({ length: shards }, (_, shard) => shardTable(shards, shard))
const node = { id: 'envoy-1', cluster: 'edge', buildVersion: { major: 1, minor: 40, patch: 0 } }
const dataPlanes = new Map([
  ['edge', { listeners: [{ name: 'http', address: '0.0.0.0', port: 10000 }], shards }],
])

const route = (index: number, generation = 1): EdgeRoute => ({
  metadata: { namespace: 'a', name: `r${index}`, uid: `r${index}`, generation, finalizers: [] },
  spec: {
    dataPlane: 'edge',
    hostnames: [`r${index}.test`],
    respond: { code: 200, body: `generation ${generation}` },
  },
})

const many = Array.from({ length: 200 }, (_, index) => route(index))

/** A control plane with one Envoy, which answers what it is told to. */
const stage = (variant: Variant) => {
  const { update } = translator(dataPlanes)
  let world = emptyWorld
  let translation = update(worldChange(world, world))
  let fleet = openFleet()
  let programmed = nothingProgrammed
  let nowMs = 0
  const latest = new Map<TypeUrl, Response>()
  const names = new Map<TypeUrl, ReadonlyArray<string>>()
  const dispatch = (event: Parameters<typeof step>[1]): void => {
    const [next, effects] = step(fleet, event, nowMs)
    fleet = next
    for (const { effect } of effects)
      if (effect._tag === 'Send') latest.set(effect.response.typeUrl, effect.response)
  }
  const look = (): void => {
    const seen = { ledger: ledgerOf(fleet), ...translation, nowMs }
    ;[programmed] = stepProgrammed(programmed, seen)
  }
  const say = (typeUrl: TypeUrl, wanted: ReadonlyArray<string>): void => {
    const before = names.get(typeUrl) ?? []
    names.set(typeUrl, wanted)
    const response = latest.get(typeUrl)
    const common = { node, typeUrl, responseNonce: response?.nonce ?? '', errorDetail: undefined }
    const versionInfo = response?.version ?? ''
    const request =
      variant === 'sotw'
        ? { ...common, _tag: 'Sotw' as const, resourceNames: wanted, versionInfo }
        : {
            ...common,
            _tag: 'Delta' as const,
            subscribe: wanted.filter((name) => !before.includes(name)),
            unsubscribe: before.filter((name) => !wanted.includes(name)),
            initialResourceVersions: new Map<string, string>(),
          }
    dispatch({ _tag: 'RequestReceived', stream: 's', request })
    look()
  }
  return {
    /** Publishes these routes, in this form if it is another one. */
    publish: (routes: ReadonlyArray<EdgeRoute>, form?: TableForm): void => {
      const next = { ...emptyWorld, routes }
      const forms = form && { forms: new Map([['edge', form]]) }
      translation = update({ ...worldChange(world, next), ...forms })
      world = next
      dispatch({ _tag: 'SnapshotPublished', snapshot: translation.snapshot })
      look()
    },
    open: (): void => dispatch({ _tag: 'StreamOpened', stream: 's', variant }),
    ask: say,
    ack: (typeUrl: TypeUrl): void => say(typeUrl, names.get(typeUrl) ?? []),
    pass: (ms: number): void => {
      nowMs += ms
      look()
    },
    said: (): ReadonlyArray<string> => [
      ...new Set([...programmed.statements.values()].map(({ _tag }) => _tag)),
    ],
    saidOf: (index: number) => programmed.statements.get(`r${index}`),
    isSynced: (): boolean =>
      ledgerOf(fleet).nodes.every((each) => progressOf(ledgerOf(fleet), each).isSynced),
    mayServe: (index: number): boolean => mayStillServe(ledgerOf(fleet), `r${index}`).length > 0,
  }
}

/** An Envoy that serves these routes by one table for its listener. */
const serving = (variant: Variant, routes: ReadonlyArray<EdgeRoute>) => {
  const played = stage(variant)
  played.publish(routes)
  played.open()
  played.ask(clusterType, [])
  played.ack(clusterType)
  played.ask(listenerType, [])
  played.ack(listenerType)
  played.ask(routeType, ['http'])
  played.ack(routeType)
  expect(played.said()).toEqual(['Programmed'])
  return played
}

describe.each(variants)('%s: an Envoy between two forms', (variant) => {
  test('takes back of no route that it is programmed, however long it stays', () => {
    const played = serving(variant, many)
    played.publish(many, sharded)
    played.pass(lagGraceMs * 3)
    expect([played.said(), played.isSynced()]).toEqual([['Programmed'], false])
    played.ack(listenerType)
    played.ask(scopeType, [])
    played.pass(lagGraceMs * 3)
    played.ack(scopeType)
    played.ask(routeType, ['http', ...shardTables])
    played.pass(lagGraceMs * 3)
    expect(played.said()).toEqual(['Programmed'])
    played.ack(routeType)
    expect([played.said(), played.isSynced()]).toEqual([['Programmed'], true])
    played.publish(many, wholeForm)
    played.ack(routeType)
    played.pass(lagGraceMs * 3)
    expect(played.said()).toEqual(['Programmed'])
    played.ask(routeType, shardTables)
    played.pass(lagGraceMs * 3)
    expect([played.said(), played.isSynced()]).toEqual([['Programmed'], false])
  })

  test('has a changed route programmed by the tables that it has, and is late without them', () => {
    const played = serving(variant, many)
    played.publish(many, sharded)
    const changed = [route(0, 2), ...many.slice(1), route(many.length)]
    played.publish(changed)
    expect(played.saidOf(0)).toEqual({ _tag: 'Programmed', generation: 1 })
    expect(played.saidOf(many.length)?._tag).toBe('Pending')
    played.pass(lagGraceMs)
    expect(played.saidOf(0)?._tag).toBe('Lagging')
    played.ack(routeType)
    expect(played.saidOf(0)).toEqual({ _tag: 'Programmed', generation: 2 })
    expect(played.said()).toEqual(['Programmed'])
  })

  test('may serve a deleted route until it has accepted every table that it asks for, of either form', () => {
    const played = serving(variant, many)
    played.publish(many, sharded)
    played.ack(listenerType)
    played.ask(scopeType, [])
    played.ack(scopeType)
    played.ask(routeType, ['http', ...shardTables])
    played.ack(routeType)
    played.publish(many.slice(1))
    expect(played.mayServe(0)).toBe(true)
    played.ack(routeType)
    expect(played.mayServe(0)).toBe(false)
    expect(played.said()).toEqual(['Programmed'])
  })
})
