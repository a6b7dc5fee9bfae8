import { describe, expect, test } from 'vitest'
import { changedOwners } from '../../src/core/compose.js'
import { defaultContext } from '../../src/core/context.js'
import type { EdgeRoute } from '../../src/core/edge-route.js'
import type { Ledger } from '../../src/core/ledger.js'
import {
  nothingProgrammed,
  type ProgrammedState,
  stepProgrammed,
} from '../../src/core/programmed.js'
import type { Fragment, Resource, TableHost } from '../../src/core/resource.js'
import { type Snapshot, viewOf } from '../../src/core/snapshot.js'
import type { Translation } from '../../src/core/translate.js'
import type { Verdict } from '../../src/core/verdict.js'
import { emptyWorld, translator, type World, worldChange } from '../../src/core/translator.js'
import { aNode, dataPlane } from '../support/ledger-nodes.js'
import { holding } from '../support/programmed-changes.js'

const count = 1_000

const routeOf = (i: number, generation = 1): EdgeRoute => ({
  metadata: { namespace: 'shop', name: `r${i}`, uid: `r${i}`, generation, finalizers: [] },
  spec: {
    hostnames: [`h${i}.example.com`],
    matches: [{ path: { prefix: `/${generation}` } }],
    backends: [{ service: { name: 'one', port: 80 } }],
  },
})

const worldWith = (address: string, routes: ReadonlyArray<EdgeRoute>): World => ({
  routes,
  services: [{ namespace: 'shop', name: 'one', ports: [{ name: '', port: 80 }] }],
  endpointSlices: [
    {
      namespace: 'shop',
      name: 'one-x',
      service: 'one',
      ports: [{ name: '', port: 80 }],
      endpoints: [{ addresses: [address], ready: true }],
    },
  ],
})

const ledgerOf = (snapshot: Snapshot, held: Snapshot): Ledger => ({
  snapshot,
  forgotten: 0,
  returns: 0,
  nodes: [holding(aNode({ stream: '1', holds: undefined }), viewOf(held, dataPlane))],
})

/** Counts the routes that are looked at, by what is asked for each of them. */
const counting = () => {
  const { update } = translator(defaultContext.dataPlanes)
  let last = emptyWorld
  let published: Translation | undefined
  let state: ProgrammedState = nothingProgrammed
  const look = ({ snapshot, verdicts }: Translation, held: Snapshot): number => {
    let looks = 0
    const get = (uid: string): Verdict | undefined => {
      looks += 1
      return verdicts.get(uid)
    }
    const counted = Object.assign({}, verdicts, { get })
    const ledger = ledgerOf(snapshot, held)
    ;[state] = stepProgrammed(state, { ledger, snapshot, verdicts: counted, nowMs: 0 })
    return looks
  }
  return {
    state: () => state,
    /** How many looks it takes as it is published, and once its Envoy has taken it. */
    show: (world: World): ReadonlyArray<number> => {
      const before = published
      const next = update(worldChange(last, world))
      last = world
      published = next
      return [look(next, before?.snapshot ?? next.snapshot), look(next, next.snapshot)]
    },
  }
}

describe('a look goes only to the routes of which something else may be to be said', () => {
  const routes = Array.from({ length: count }, (_, i) => routeOf(i))
  const changed = routes.with(7, routeOf(7, 2))
  const { show, state } = counting()
  test('at the first look all of them', () => {
    expect(show(worldWith('10.0.0.1', routes))).toEqual([count, 0])
  })

  test('where an endpoint is another one, none', () => {
    expect(show(worldWith('10.0.0.2', routes))).toEqual([0, 0])
  })

  test('where a route is another one, that one', () => {
    const [onItsWay, done] = show(worldWith('10.0.0.2', changed))
    expect(onItsWay).toBeLessThanOrEqual(2)
    expect(done).toBe(1)
    expect(state().statements.get('r7')).toEqual({ _tag: 'Programmed', generation: 2 })
  })

  test('where one has gone, none', () => {
    expect(show(worldWith('10.0.0.2', changed.slice(1)))).toEqual([0, 0])
    expect([...state().statements.keys()]).not.toContain('r0')
    expect(state().statements.size).toBe(count - 1)
  })
})

/** A host whose fragments nobody may look at. */
const sealed = (name: string): TableHost => ({
  name,
  head: new Uint8Array(),
  get fragments(): ReadonlyArray<Fragment> {
    throw new Error(`${name} was looked into`)
  },
})

const tableWith = (version: string, hosts: ReadonlyArray<TableHost>): Resource => ({
  name: 'http',
  version,
  content: { _tag: 'Table', table: { head: new Uint8Array(), virtualHosts: hosts } },
  refs: [],
  owners: [],
})

test('hosts that two tables share are not looked into to tell what distinguishes them', () => {
  const fragment: Fragment = {
    owner: 'm',
    virtualHost: 'm',
    claim: '1',
    sortKey: '1',
    path: { _tag: 'Prefix', value: '/' },
    match: new Uint8Array(),
    rest: new Uint8Array(),
    version: '1',
    clusters: [],
  }
  const own: TableHost = { name: 'm', head: new Uint8Array(), fragments: [fragment] }
  const [a, z] = [sealed('a'), sealed('z')]
  const owners = changedOwners(tableWith('1', [a, z]), tableWith('2', [a, own, z]))
  expect([...owners]).toEqual(['m'])
})
