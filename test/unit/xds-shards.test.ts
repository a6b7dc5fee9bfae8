import { expect, test } from 'vitest'
import { type Context, defaultContext } from '../../src/core/context.js'
import { defaultDataPlane, type EdgeRoute } from '../../src/core/edge-route.js'
import { encodeContent, type Resource } from '../../src/core/resource.js'
import { entries } from '../../src/core/persistent-map.js'
import { type Snapshot, viewOf } from '../../src/core/snapshot.js'
import { shardOf, shardTable, type TableForm, wholeForm } from '../../src/core/table-form.js'
import { snapshotOf } from '../../src/core/translate.js'
import { routeType, scopeType } from '../../src/core/type-url.js'
import type { Response } from '../../src/core/xds/messages.js'
import { type AnyStream, openAny, sentBy, variants } from '../support/xds.js'

const shards = 8
const node = { id: 'envoy-1', cluster: defaultDataPlane }
const [plane] = [...defaultContext.dataPlanes.values()]

const context: Context = {
  ...defaultContext,
  dataPlanes: new Map([
    [
      defaultDataPlane,
      { listeners: plane?.listeners ?? [], shards, form: { _tag: 'Sharded', shards } },
    ],
  ]),
}

const route = (name: string, body: string): EdgeRoute => ({
  metadata: { namespace: 'test', name, uid: name, generation: 1, finalizers: [] },
  spec: { hostnames: [`${name}.test`], respond: { code: 200, body } },
})

const tableOf = (name: string): string => shardTable(shards, shardOf(`${name}.test`, shards))

/** Names of routes that all stand in tables of their own. */
const names = ((): ReadonlyArray<string> => {
  const byTable = new Map<string, string>()
  for (let i = 0; byTable.size < 4; i += 1) byTable.set(tableOf(`r${i}`), `r${i}`)
  return [...byTable.values()]
})()

const [bad = '', good = '', other = ''] = names

const tables = Array.from({ length: shards }, (_, shard) => shardTable(shards, shard))

/** Whether a table has this body in it, as an Envoy that refuses it would see. */
const has = (resource: Resource, body: string): boolean =>
  Buffer.from(encodeContent(resource.content)).includes(body)

const tablesIn = (responses: ReadonlyArray<Response>): ReadonlyArray<Resource> =>
  responses.flatMap(({ typeUrl, resources }) => (typeUrl === routeType ? resources : []))

/** Answers until nothing comes any more: refuses what has the body in it. Gives the tables that were accepted. */
const play = (stream: AnyStream): ReadonlyArray<Resource> => {
  const accepted: Array<Resource> = []
  for (let sent = sentBy(stream.effects()); sent.length > 0; sent = sentBy(stream.effects())) {
    const [resources, isBad] = [tablesIn(sent), tablesIn(sent).some((each) => has(each, 'poison'))]
    if (resources.length === 0) return accepted
    if (!isBad) accepted.push(...resources)
    if (isBad) stream.nack('rds')
    else stream.ack('rds')
  }
  return accepted
}

test.each(variants)('%s: a refusal of one shard holds up and touches no other', (variant) => {
  const stream = openAny(variant, { node })
  const publish = (bodies: Readonly<Record<string, string>>) =>
    stream.publish(
      snapshotOf(
        names.map((name) => route(name, bodies[name] ?? 'first')),
        context,
      ),
    )
  publish({})
  stream.first('cds')
  stream.ack('cds')
  stream.first('lds')
  stream.first('srds')
  stream.first('rds', tables.join(' '))
  play(stream)
  publish({ [bad]: 'poison', [good]: 'second' })
  const taken = play(stream)
  expect(taken.filter((table) => has(table, 'second')).map(({ name }) => name)).toContain(
    tableOf(good),
  )
  // That of the refused one, as it was, since nobody knew what the refusal has left of it.
  expect(new Set(taken.map(({ name }) => name))).toEqual(new Set([tableOf(bad), tableOf(good)]))
  expect(stream.memory()?.searches[routeType]?.convicted.size).toBe(1)
  publish({ [bad]: 'poison', [good]: 'second', [other]: 'third' })
  expect(play(stream).map(({ name }) => name)).toEqual([tableOf(other)])
})

const inForm = (form: TableForm): Snapshot => {
  const dataPlanes = [...context.dataPlanes].map(
    ([name, each]) => [name, { ...each, form }] as const,
  )
  return snapshotOf([], { ...context, dataPlanes: new Map(dataPlanes) })
}

const scopesIn = (responses: ReadonlyArray<Response>): number =>
  responses.reduce(
    (sum, { typeUrl, resources }) => sum + (typeUrl === scopeType ? resources.length : 0),
    0,
  )

test.each(variants)(
  '%s: scopes follow each listener that looks for them, as often as it comes',
  (variant) => {
    const stream = openAny(variant, { node })
    const sharded: TableForm = { _tag: 'Sharded', shards }
    stream.publish(inForm(sharded))
    stream.first('cds')
    stream.ack('cds')
    stream.first('lds')
    stream.first('srds')
    expect(scopesIn(sentBy(stream.effects()))).toBe(shards)
    for (const short of ['lds', 'srds'] as const) stream.ack(short)
    for (const form of [wholeForm, sharded]) {
      stream.publish(inForm(form))
      expect(scopesIn(sentBy(stream.effects()))).toBe(form === wholeForm ? 0 : shards)
      stream.ack('lds')
      if (form === sharded) stream.ack('srds')
      expect(scopesIn(sentBy(stream.effects()))).toBe(0)
    }
  },
)

test('an Envoy that says that it has all scopes gets all of them: it names what it has forgotten', () => {
  const stream = openAny('delta', { node })
  const snapshot = inForm({ _tag: 'Sharded', shards })
  stream.publish(snapshot)
  const scopes = [...entries(viewOf(snapshot, defaultDataPlane)[scopeType])]
  stream.first('rds', tables.join(' '))
  stream.receive({
    ...{ _tag: 'Delta', node: undefined, typeUrl: scopeType, responseNonce: '' },
    ...{ subscribe: [], unsubscribe: [], errorDetail: undefined },
    initialResourceVersions: new Map([
      ...scopes.map(({ name, version }) => [name, version] as const),
      ['gone', 'before'],
    ]),
  })
  const sent = sentBy(stream.effects()).filter(({ typeUrl }) => typeUrl === scopeType)
  expect(sent.map(({ resources }) => resources.length)).toEqual([shards])
  stream.ack('srds')
  expect([...sent, ...sentBy(stream.effects())].flatMap(({ removed }) => removed)).toEqual(['gone'])
})
