import { describe, expect, onTestFinished, test } from 'vitest'
import { RouteConfiguration } from '../../src/gen/envoy/config/route/v3/route.js'
import type { Route, VirtualHost } from '../../src/gen/envoy/config/route/v3/route_components.js'
import { listener, routeType, staticCluster, table } from '../contract/envoy-scripts/resources.js'
import { answers, bringUp, gives, goesOn, refuses } from '../contract/envoy-scripts/steps.js'
import { type RealEnvoy, startRealEnvoy } from '../support/scripted-real-envoy.js'

/**
 * A regular expression that Envoy refuses, with a text of our own in it. (With a hyphen in it, the
 * refusal would be for the range `t-p`, and not show the text.)
 */
const poison = '[edgewright_probe'

const respond = { $case: 'directResponse', value: { status: 204 } } as const

const matching = (regex: string): Route => ({
  match: { pathSpecifier: { $case: 'safeRegex', value: { regex } } },
  action: respond,
})

const leadingTo = (cluster: string): Route => ({
  match: { pathSpecifier: { $case: 'prefix', value: '/' } },
  action: { $case: 'route', value: { clusterSpecifier: { $case: 'cluster', value: cluster } } },
})

const host = (name: string, ...routes: ReadonlyArray<Route>): VirtualHost => ({
  name,
  domains: [`${name}.example`],
  routes: [...routes],
})

const poisoned = host('edgewright-probe', matching(poison))

/** What is wrong, a table with it, and the end of the refusal. The poison is put behind each. */
const bad: ReadonlyArray<readonly [string, RouteConfiguration, string]> = [
  ['another regex', { virtualHosts: [host('one', matching('[x'))] }, 'missing ]: [x'],
  [
    'a field that fails validation',
    { virtualHosts: [{ name: '', domains: ['one.example'] }] },
    'at least 1 characters)',
  ],
  [
    'a domain that stands twice',
    { virtualHosts: [host('one'), { ...host('one'), name: 'two' }] },
    'Duplicate entry of domain one.example in route t',
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

describe.each(['sotw', 'delta'] as const)('a real Envoy in %s that is sent poison', (variant) => {
  const start = async (): Promise<{ readonly envoy: RealEnvoy; readonly port: number }> => {
    const envoy = await startRealEnvoy({ variant })
    onTestFinished(envoy.stop)
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
  const probe = async (envoy: RealEnvoy, made: RouteConfiguration): Promise<string> => {
    const virtualHosts = [...(made.virtualHosts ?? []), poisoned]
    const bytes = RouteConfiguration.encode({ ...made, name: 't', virtualHosts }).finish()
    const resources = [{ name: 't', bytes }]
    return refuses(envoy, envoy.send({ typeUrl: routeType, version: 'probe', resources }), '1')
  }

  test('refuses a good table for the poison at its end, and goes on with what it had', async () => {
    const { envoy, port } = await start()
    const virtualHosts = [host('one', leadingTo('known')), host('two', matching('[x]'))]
    expect(await probe(envoy, { virtualHosts })).toBe(`missing ]: ${poison}`)
    const validateClusters = true
    expect(await probe(envoy, { virtualHosts, validateClusters })).toBe(`missing ]: ${poison}`)
    await goesOn(envoy, port, '/', '200 old')
    await gives(envoy, routeType, '2', [table('t', { '/': { say: 'new' } })])
    await answers(envoy, port, '/', '200 new')
  })

  test.each(bad)('refuses %s before it comes to the poison', async (_, made, end) => {
    const { envoy, port } = await start()
    const message = await probe(envoy, made)
    expect(message.slice(-end.length)).toBe(end)
    await goesOn(envoy, port, '/', '200 old')
  })
})
