import { Agent, request as httpRequest } from 'node:http'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { listener, routeType, tableItem } from '../contract/envoy-scripts/resources.js'
import { bringUp, gives } from '../contract/envoy-scripts/steps.js'
import { worthwhileSaving } from '../../src/core/matcher-tree.js'
import { eventually } from '../support/envoy.js'
import { convictions } from '../support/ledger-view.js'
import { start } from '../support/one-envoy.js'
import { answering, snapshotOf } from '../support/rig.js'
import { startRealEnvoy } from '../support/scripted-real-envoy.js'
import { bothForms, fragmentsOf, type TreeRequest, treeWorlds } from '../support/tree-worlds.js'
import { tamperRoute, withBadRegex } from '../support/tampered.js'
import { answers, ask } from '../support/traffic.js'

const forms = ['list', 'tree'] as const
const variants = ['delta', 'sotw'] as const
/** A search of a table of this size takes some ten exchanges of a few milliseconds each. */
const searchMs = 20_000

/** Envoy is the judge of both forms: each is a virtual host of its own, with the same routes. */
test('a real Envoy answers by a tree as by the list of the same routes', async () => {
  const envoy = await startRealEnvoy({ variant: 'sotw' })
  const agent = new Agent({ keepAlive: true })
  onTestFinished(async () => {
    agent.destroy()
    await envoy.stop()
  })
  const port = await envoy.freePort()
  const normal = { normalizePath: { value: true }, mergeSlashes: true }
  await bringUp(envoy, {
    listeners: [listener('l', port, 't', normal)],
    tables: [tableItem('t', [])],
  })
  let version = 1
  const seen = new Set<string>()
  const agrees = fc.asyncProperty(treeWorlds, async ({ routes, requests }) => {
    const hosts = bothForms(fragmentsOf(routes))
    const table = tableItem(
      't',
      forms.map((form) => ({ name: form, domains: [`${form}.test`], ...hosts[form] })),
    )
    await gives(envoy, routeType, String((version += 1)), [table])
    await envoy.wait(envoy.settleMs)
    for (const request of requests) {
      const [list, tree] = await Promise.all(
        forms.map((form) => bodyOf({ port, agent, host: `${form}.test`, request })),
      )
      expect([request, tree]).toEqual([request, list])
      seen.add(list === '404' ? 'a miss' : 'a hit')
    }
  })
  await fc.assert(agrees, { numRuns: 60, endOnFailure: true })
  expect([...seen].sort()).toEqual(['a hit', 'a miss'])
})

test.each(variants)('a refused route in a tree is convicted alone, in %s', async (variant) => {
  const others = (body: string) =>
    Array.from({ length: 4 * worthwhileSaving }, (_, i) => answering(`r${i}`, `/r${i}`, body))
  const world = (culprit: string, body: string) =>
    snapshotOf([answering('culprit', '/r7/culprit', culprit), ...others(body)])
  const { rig, envoy, port } = await start(variant, world('before', 'one'))
  await answers(port, '/r7/culprit', '200 before')
  expect(JSON.stringify(await envoy.configDump())).toContain('"prefix_match_map"')

  rig.publish(tamperRoute('culprit', withBadRegex)(world('after', 'two')))
  const found = await eventually(
    () => convictions(rig.server()),
    (all) => all.length > 0,
    searchMs,
  )
  expect(found.map(({ node, owners }) => ({ node, owners }))).toEqual([
    { node: envoy.id, owners: ['culprit'] },
  ])
  for (const path of ['/r0', '/r7', '/r255/x']) await answers(port, path, '200 two')
  expect(await ask(port, '/r7/culprit')).toBe('200 before')

  rig.publish(world('mended', 'three'))
  await answers(port, '/r7/culprit', '200 mended')
  await answers(port, '/r7', '200 three')
})

interface Asked {
  readonly port: number
  readonly agent: Agent
  readonly host: string
  readonly request: TreeRequest
}

const bodyOf = ({ port, agent, host, request }: Asked): Promise<string> =>
  new Promise((resolve, reject) => {
    const { path, method, headers } = request
    const sent = httpRequest(
      { host: '127.0.0.1', port, agent, path, method, headers: { ...headers, host } },
      (answer) => {
        let body = ''
        answer.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
        answer.on('error', reject)
        answer.on('end', () =>
          resolve(answer.statusCode === 200 ? body : String(answer.statusCode)),
        )
      },
    )
    sent.on('error', reject)
    sent.end()
  })
