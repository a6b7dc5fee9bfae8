import { expect, test } from 'vitest'
import {
  type Route,
  RouteList,
  type RouteMatch,
  type VirtualHost,
} from '../../../src/gen/envoy/config/route/v3/route_components.js'
import { HttpRequestHeaderMatchInput } from '../../../src/gen/envoy/type/matcher/v3/http_inputs.js'
import type { TypedExtensionConfig } from '../../../src/gen/xds/core/v3/extension.js'
import type { Item } from '../../support/scripted-envoy.js'
import { listener, routeType, staticCluster, tableItem } from './resources.js'
import { answers, bringUp, gives, goesOn, refuses, type Subject } from './steps.js'

type Lists = Readonly<Record<string, ReadonlyArray<Route>>>

const extension = (type: string, value: Uint8Array): TypedExtensionConfig => ({
  name: 'any',
  typedConfig: { typeUrl: `type.googleapis.com/${type}`, value },
})

/** A virtual host whose routes stand in a map of prefixes of the path. */
const treeHost = (name: string, domain: string, lists: Lists): VirtualHost => ({
  name,
  domains: [domain],
  matcher: {
    matcherType: {
      $case: 'matcherTree',
      value: {
        input: extension(
          HttpRequestHeaderMatchInput.$type,
          HttpRequestHeaderMatchInput.encode({ headerName: ':path' }).finish(),
        ),
        treeType: {
          $case: 'prefixMatchMap',
          value: {
            map: Object.fromEntries(
              Object.entries(lists).map(([key, routes]) => {
                const value = extension(RouteList.$type, RouteList.encode({ routes }).finish())
                return [key, { onMatch: { $case: 'action', value } }]
              }),
            ),
          },
        },
      },
    },
  },
})

const tree = (lists: Lists): Item => tableItem('t', [treeHost('all', '*', lists)])

const says = (match: RouteMatch['pathSpecifier'], text: string): Route => ({
  match: { pathSpecifier: match },
  action: {
    $case: 'directResponse',
    value: { status: 200, body: { specifier: { $case: 'inlineString', value: text } } },
  },
})

const leadsTo = (cluster: string): Route => ({
  match: { pathSpecifier: { $case: 'prefix', value: '/' } },
  action: { $case: 'route', value: { clusterSpecifier: { $case: 'cluster', value: cluster } } },
})

const root = says({ $case: 'prefix', value: '/' }, 'root')
const exact = says({ $case: 'path', value: '/a' }, 'exact')
const below = says({ $case: 'pathSeparatedPrefix', value: '/a/b' }, 'below')
const bad = (regex: string): Route => says({ $case: 'safeRegex', value: { regex } }, 'never')

/** How Envoy finds a route in a virtual host whose routes stand in a tree over paths. */
export const treeScripts = ({ start }: Subject): void => {
  const serving = async (table: Item) => {
    const envoy = await start()
    const port = await envoy.freePort()
    await bringUp(envoy, {
      clusters: [staticCluster('known', envoy.backends.a)],
      listeners: [listener('l', port, 't')],
      tables: [table],
    })
    return { envoy, port }
  }

  test('the longest key that the path begins with, byte by byte, has the list, and no other is tried', async () => {
    const { envoy, port } = await serving(
      tree({ '/': [root], '/a': [exact, root], '/a/b': [below], '/abc': [] }),
    )
    await answers(envoy, port, '/', '200 root')
    const expected = {
      '/z': '200 root',
      '/a': '200 exact',
      '/a?b': '200 exact',
      '/a/': '200 root',
      '/ab': '200 root',
      '/a/b': '200 below',
      '/a/b?c': '200 below',
      '/a/b/c': '200 below',
      '/a/bc': '404',
      '/A': '200 root',
    }
    for (const [path, answer] of Object.entries(expected))
      expect([path, await envoy.request(port, path)]).toEqual([path, answer])
  })

  test('a path that begins with no key is found nowhere', async () => {
    const { envoy, port } = await serving(tree({ '/a': [root] }))
    await answers(envoy, port, '/a', '200 root')
    await answers(envoy, port, '/b', '404')
  })

  test('a list in a tree leads to clusters, and one that is unknown answers 503', async () => {
    const { envoy, port } = await serving(
      tree({ '/': [leadsTo('known')], '/a': [leadsTo('unknown')] }),
    )
    await answers(envoy, port, '/', '200 a')
    await answers(envoy, port, '/a', '503')
  })

  test('a tree takes the place of a list and a list that of a tree, on open connections too', async () => {
    const { envoy, port } = await serving(tree({ '/': [root], '/a': [exact, root] }))
    await answers(envoy, port, '/a', '200 exact')
    const open = envoy.connect(port)
    expect(await open.request('/a')).toBe('200 exact')
    const list = tableItem('t', [{ name: 'all', domains: ['*'], routes: [below] }])
    await gives(envoy, routeType, '2', [list])
    await envoy.wait(envoy.settleMs)
    expect(await open.request('/a')).toBe('404')
    expect(await open.request('/a/b')).toBe('200 below')
    await gives(envoy, routeType, '3', [tree({ '/': [root] })])
    await envoy.wait(envoy.settleMs)
    expect(await open.request('/a')).toBe('200 root')
  })

  test('a route in a tree is refused in the words in which it is refused in a list', async () => {
    const { envoy, port } = await serving(tree({ '/': [root] }))
    await answers(envoy, port, '/', '200 root')
    const send = (...hosts: ReadonlyArray<VirtualHost>) =>
      refuses(
        envoy,
        envoy.send({ typeUrl: routeType, version: 'bad', resources: [tableItem('t', [...hosts])] }),
        '1',
      )
    const good = treeHost('good', 'good.example', { '/': [root], '/a': [exact, root] })
    const spoilt = treeHost('bad', 'bad.example', { '/': [root], '/a': [bad('[x'), root] })
    const poisoned = { name: 'poison', domains: ['poison.example'], routes: [bad('[poison')] }
    expect(await send(good, spoilt)).toBe('missing ]: [x')
    expect(await send(good, spoilt, poisoned)).toBe('missing ]: [x')
    expect(await send(good, poisoned)).toBe('missing ]: [poison')
    await goesOn(envoy, port, '/', '200 root')
    await gives(envoy, routeType, '2', [tree({ '/': [below] })])
    await answers(envoy, port, '/a/b', '200 below')
  })
}
