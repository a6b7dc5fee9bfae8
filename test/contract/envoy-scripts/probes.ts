import { expect, test } from 'vitest'
import type { RouteConfiguration } from '../../../src/gen/envoy/config/route/v3/route.js'
import type { Route, VirtualHost } from '../../../src/gen/envoy/config/route/v3/route_components.js'
import type { EnvoyUnderTest } from '../../support/scripted-envoy.js'
import { listener, routeType, staticCluster, table, tableItem } from './resources.js'
import { answers, bringUp, gives, goesOn, refuses, type Subject } from './steps.js'

/**
 * A regular expression that Envoy refuses, with a text of our own in it. (With a hyphen in it, the
 * refusal would be for the range `t-p`, and not show the text.)
 */
const poison = '[edgewright_probe'

const respond = { $case: 'directResponse', value: { status: 204 } } as const

const matching = (regex: string, others: NonNullable<Route['match']> = {}): Route => ({
  match: { pathSpecifier: { $case: 'safeRegex', value: { regex } }, ...others },
  action: respond,
})

const leadingTo = (cluster: string, regexRewrite?: string): Route => ({
  match: { pathSpecifier: { $case: 'prefix', value: '/' } },
  action: {
    $case: 'route',
    value: {
      clusterSpecifier: { $case: 'cluster', value: cluster },
      ...(regexRewrite === undefined
        ? {}
        : { regexRewrite: { pattern: { regex: regexRewrite }, substitution: '' } }),
    },
  },
})

const host = (name: string, ...routes: ReadonlyArray<Route>): VirtualHost => ({
  name,
  domains: [`${name}.example`],
  routes: [...routes],
})

const poisoned = host('edgewright-probe', matching(poison))

const header = (regex: string) =>
  ({
    name: 'x',
    headerMatchSpecifier: {
      $case: 'stringMatch',
      value: { matchPattern: { $case: 'safeRegex', value: { regex } } },
    },
  }) as const
const parameter = (regex: string) =>
  ({
    name: 'x',
    queryParameterMatchSpecifier: {
      $case: 'stringMatch',
      value: { matchPattern: { $case: 'safeRegex', value: { regex } } },
    },
  }) as const

/** What is wrong, a table with it, and the end of the refusal. The poison is put behind each. */
const bad: ReadonlyArray<readonly [string, RouteConfiguration, string]> = [
  ['another regex', { virtualHosts: [host('one', matching('[x'))] }, 'missing ]: [x'],
  [
    'the regex of a header, before those of parameters and of the path',
    {
      virtualHosts: [
        host(
          'one',
          matching('[p', { headers: [header('[h')], queryParameters: [parameter('[q')] }),
        ),
      ],
    },
    'missing ]: [h',
  ],
  [
    'the regex of a parameter, before that of the path',
    { virtualHosts: [host('one', matching('[p', { queryParameters: [parameter('[q')] }))] },
    'missing ]: [q',
  ],
  [
    'the regex of a rewrite, before that of the path',
    {
      virtualHosts: [
        host('one', { ...leadingTo('known', '[r'), match: matching('[p').match ?? {} }),
      ],
    },
    'missing ]: [r',
  ],
  [
    'the first of two routes',
    { virtualHosts: [host('one', matching('[1'), matching('[2'))] },
    'missing ]: [1',
  ],
  [
    'a host without a name',
    { virtualHosts: [host('good'), { name: '', domains: ['one.example'] }] },
    'VirtualHosts[1]: embedded message failed validation | caused by ' +
      'VirtualHostValidationError.Name: value length must be at least 1 characters)',
  ],
  [
    'a host without a domain, before any regex,',
    { virtualHosts: [host('one', matching('[x')), { name: 'two', domains: [] }] },
    'VirtualHosts[1]: embedded message failed validation | caused by ' +
      'VirtualHostValidationError.Domains: value must contain at least 1 item(s))',
  ],
  [
    'a domain that stands twice',
    { virtualHosts: [host('one'), { name: 'two', domains: ['ONE.example'] }] },
    'Duplicate entry of domain one.example in route t',
  ],
  [
    'the routes of a host before its domains',
    { virtualHosts: [host('one'), { ...host('one', matching('[x')), name: 'two' }] },
    'missing ]: [x',
  ],
  [
    'two hosts for everything',
    {
      virtualHosts: [
        { name: 'one', domains: ['*'] },
        { name: 'two', domains: ['*'] },
      ],
    },
    'Only a single wildcard domain is permitted in route t',
  ],
  [
    'a cluster that is unknown, where that is checked',
    { virtualHosts: [host('one', leadingTo('unknown'))], validateClusters: true },
    "route: unknown cluster 'unknown'",
  ],
]

/** Regular expressions that are none, and what Envoy says of them. */
const noRegexes: ReadonlyArray<readonly [regex: string, message: string]> = [
  ['(x', 'missing ): (x'],
  ['x)', 'unexpected ): x)'],
  ['*x', 'no argument for repetition operator: *'],
  ['x**', 'bad repetition operator: **'],
  ['\\8', 'invalid escape sequence: \\8'],
  ['[b-a]', 'invalid character class range: b-a'],
  ['x{2,1}', 'invalid repetition size: {2,1}'],
  ['(?P<x', 'invalid named capture group: (?P<x'],
  ['x\\', 'trailing \\'],
]

/** What an Envoy says of a route table with a regex at its end that is none. */
export const probeScripts = ({ start }: Subject): void => {
  const serving = async (): Promise<{ readonly envoy: EnvoyUnderTest; readonly port: number }> => {
    const envoy = await start()
    const port = await envoy.freePort()
    await bringUp(envoy, {
      clusters: [staticCluster('known', envoy.backends.a)],
      listeners: [listener('l', port, 't')],
      tables: [table('t', { '/': { say: 'old' } })],
    })
    await answers(envoy, port, '/', '200 old')
    return { envoy, port }
  }

  /** Sends a table with the poison behind it, and returns the refusal. */
  const probe = async (
    envoy: EnvoyUnderTest,
    { virtualHosts = [], ...settings }: RouteConfiguration,
  ): Promise<string> => {
    const resources = [tableItem('t', [...virtualHosts, poisoned], settings)]
    return refuses(envoy, envoy.send({ typeUrl: routeType, version: 'probe', resources }), '1')
  }

  test('a good table is refused for the poison at its end, and what was there goes on', async () => {
    const { envoy, port } = await serving()
    const virtualHosts = [host('one', leadingTo('known')), host('two', matching('[x]'))]
    expect(await probe(envoy, { virtualHosts })).toBe(`missing ]: ${poison}`)
    const validateClusters = true
    expect(await probe(envoy, { virtualHosts, validateClusters })).toBe(`missing ]: ${poison}`)
    await goesOn(envoy, port, '/', '200 old')
    await gives(envoy, routeType, '2', [table('t', { '/': { say: 'new' } })])
    await answers(envoy, port, '/', '200 new')
  })

  test('twice the same probe is refused twice', async () => {
    const { envoy } = await serving()
    const twice = [await probe(envoy, {}), await probe(envoy, {})]
    expect(twice).toEqual([`missing ]: ${poison}`, `missing ]: ${poison}`])
  })

  test.each(bad)('%s is refused before it comes to the poison', async (_, made, end) => {
    const { envoy, port } = await serving()
    const message = await probe(envoy, made)
    expect(message.slice(-end.length)).toBe(end)
    await goesOn(envoy, port, '/', '200 old')
  })

  test('a regex that is none is refused in these words', async () => {
    const { envoy, port } = await serving()
    const said: Array<readonly [string, string]> = []
    for (const [regex] of noRegexes)
      said.push([regex, await probe(envoy, { virtualHosts: [host('one', matching(regex))] })])
    expect(said).toEqual(noRegexes)
    await goesOn(envoy, port, '/', '200 old')
  })

  test('a regex whose program is large is refused', async () => {
    const { envoy } = await serving()
    const regex = `/${'[ab]x'.repeat(100)}`
    const message = await probe(envoy, { virtualHosts: [host('one', matching(regex))] })
    expect(message.replace(/size of \d+ >/, 'size of N >')).toBe(
      `regex '${regex}' RE2 program size of N > max program size of 100 set for the error level ` +
        'threshold. Increase configured max program size if necessary.',
    )
  })
}
