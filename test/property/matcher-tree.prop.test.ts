import { test } from '@fast-check/vitest'
import type { EdgeRoute, Match } from 'edgewright'
import { describe, expect } from 'vitest'
import { digestStrings } from '../../src/core/digest.js'
import { encodeTree, treeSize } from '../../src/core/encode-tree.js'
import { routesOf } from '../../src/adapters/memory/envoy/routing/host-routes.js'
import {
  emptyTree,
  isWorthwhile,
  listOf,
  maxSwelling,
  type Tree,
  treeOf,
  worthwhileSaving,
} from '../../src/core/matcher-tree.js'
import { encodeContent, type Resource, tableResource } from '../../src/core/resource.js'
import { routesSize } from '../../src/core/splice.js'
import { tableHostOf } from '../../src/core/translate/route-tables.js'
import { RouteConfiguration } from '../../src/gen/envoy/config/route/v3/route.js'
import { Route, VirtualHost } from '../../src/gen/envoy/config/route/v3/route_components.js'
import { asking, tableOf } from '../support/memory-routing.js'
import {
  answeringItself,
  bothForms,
  fragmentsOf,
  type TreeRequest,
  treeWorlds,
} from '../support/tree-worlds.js'

const runs = { numRuns: 300 }

/** Who answers requests by this table. */
const bodiesOf = (table: RouteConfiguration): ((request: TreeRequest) => string) => {
  const ask = asking({ table })
  return ({ headers, ...request }) => {
    const answer = ask({ ...request, headers: Object.entries(headers) })
    return answer._tag === 'Responded' ? answer.body : answer._tag
  }
}

describe('a tree over paths', () => {
  test.prop([treeWorlds], runs)('takes each request to the route of the plain list', (world) => {
    const { list, tree } = bothForms(fragmentsOf(world.routes))
    const [plain, branched] = [bodiesOf(tableOf([], list)), bodiesOf(tableOf([], tree))]
    for (const request of world.requests)
      expect([request, branched(request)]).toEqual([request, plain(request)])
  })

  test.prop([treeWorlds], runs)(
    'has the routes of the plain list, and read back they are a list of the same meaning',
    (world) => {
      const { list, tree } = bothForms(fragmentsOf(world.routes))
      const names = (all: ReadonlyArray<Route>) =>
        all.map((one) => Buffer.from(Route.encode(one).finish()).toString('hex')).sort()
      expect(names(routesOf(tree))).toEqual(names(list.routes ?? []))
      const [plain, read] = [bodiesOf(tableOf([], list)), bodiesOf(tableOf(routesOf(tree)))]
      for (const request of world.requests)
        expect([request, read(request)]).toEqual([request, plain(request)])
    },
  )

  test.prop([treeWorlds], runs)('has the bytes of its message', (world) => {
    const tree = treeOf(fragmentsOf(world.routes)) ?? emptyTree
    const bytes = encodeTree(tree)
    expect(bytes.length).toBe(treeSize(tree))
    const hex = (of: Uint8Array): string => Buffer.from(of).toString('hex')
    expect(hex(VirtualHost.encode(VirtualHost.decode(bytes)).finish())).toBe(hex(bytes))
  })

  test.prop([treeWorlds], runs)('knows how large its lists are before it makes them', (world) => {
    const { branches } = treeOf(fragmentsOf(world.routes)) ?? emptyTree
    const lists = branches.map(listOf)
    expect(branches.map(({ routes }) => routes)).toEqual(lists.map(({ length }) => length))
    expect(branches.map(({ listBytes }) => listBytes)).toEqual(lists.map(routesSize))
  })
})

/** A route for each match. */
const each = (count: number, matchOf: (index: number) => Match): ReadonlyArray<EdgeRoute> =>
  Array.from({ length: count }, (_, i) => answeringItself(`r${i}`, [matchOf(i)]))

const prefixes = (count: number): ReadonlyArray<EdgeRoute> =>
  each(count, (i) => ({ path: { prefix: `/p${i}` } }))

describe('a host is sent', () => {
  const formOf = (...routes: Parameters<typeof fragmentsOf>[0]): string =>
    isSentAsTree(treeOf(fragmentsOf(routes))) ? 'tree' : 'list'
  const isSentAsTree = (tree: Tree | undefined): boolean => tree !== undefined && isWorthwhile(tree)

  test('as a tree as soon as that spares the worst request enough routes', () => {
    expect(formOf(...prefixes(worthwhileSaving))).toBe('list')
    expect(formOf(...prefixes(worthwhileSaving + 1))).toBe('tree')
    const root = answeringItself('root', [{ path: { prefix: '/' } }])
    expect(formOf(...prefixes(worthwhileSaving), root)).toBe('list')
    expect(formOf(...prefixes(worthwhileSaving + 1), root)).toBe('tree')
  })

  test('as a list where all routes have one path', () => {
    const one = each(2 * worthwhileSaving, (i) => ({
      path: { prefix: '/one' },
      headers: [{ name: 'x', exact: String(i) }],
    }))
    expect(formOf(...one)).toBe('list')
  })

  test('as a list where a path is a regular expression', () => {
    const regex = answeringItself('regex', [{ path: { regex: '/r.*' } }])
    expect(formOf(...prefixes(2 * worthwhileSaving), regex)).toBe('list')
  })

  test('as a list where copies would swell it', () => {
    const chain = each(3 * worthwhileSaving, (i) => ({ path: { prefix: `/${'d/'.repeat(i)}d` } }))
    expect(formOf(...chain)).toBe('list')
    const branches = Array.from({ length: worthwhileSaving }, (_, i) => {
      const paths = [`/p${i}`, `/p${i}/q`, `/p${i}/q/r`]
      return answeringItself(
        `b${i}`,
        paths.map((prefix) => ({ path: { prefix } })),
      )
    })
    expect(maxSwelling).toBeGreaterThan(2)
    expect(formOf(...branches)).toBe('tree')
  })

  test('in bytes and under a version that tell its form', () => {
    const fragments = fragmentsOf(prefixes(2 * worthwhileSaving))
    const table = (of: typeof fragments) =>
      tableResource('t', { head: new Uint8Array(), virtualHosts: [tableHostOf('one.test', of)] })
    const [host] =
      RouteConfiguration.decode(encodeContent(table(fragments).content)).virtualHosts ?? []
    expect(host?.domains).toEqual(['one.test'])
    expect(host?.routes ?? []).toEqual([])
    expect(host?.matcher).toEqual(bothForms(fragments).tree.matcher)
    expect(table(fragments).version).toBe(table([...fragments]).version)
    expect(table(fragments).version).not.toBe(versionAsList(table(fragments)))
    const few = table(fragments.slice(0, worthwhileSaving))
    expect(few.version).toBe(versionAsList(few))
  })
})

/** The version of a table all of whose hosts are lists. */
const versionAsList = ({ name, content }: Resource): string => {
  if (content._tag === 'Bytes') throw new Error('a route table is one piece')
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
  const hosts = content.table.virtualHosts.map(({ head, fragments }) =>
    digestStrings(hex(head), ...fragments.map(({ version }) => version)),
  )
  return digestStrings(name, hex(content.table.head), ...hosts)
}
