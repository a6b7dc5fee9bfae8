import { readdirSync, readFileSync, statSync } from 'node:fs'
import { expect, test } from 'vitest'
import { defaultContext } from '../../src/core/context.js'
import { edgeRouteDefinition } from '../../src/core/crd.js'
import { defaultDataPlane } from '../../src/core/edge-route.js'
import { finalizer } from '../../src/core/stored-object.js'
import { bootstrap } from '../../src/host/bootstrap.js'
import { envoyVersion } from '../../src/host/cli/demo/envoy-binary.js'
import { deployFiles } from '../../tools/generate-deploy.mjs'

const root = new URL('../../', import.meta.url)

test('what is in deploy/ is what the sources say: npm run build && node tools/generate-deploy.mjs', async () => {
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
    readonly version: string
  }
  const httpPort = defaultContext.dataPlanes.get(defaultDataPlane)?.listeners[0]?.port ?? 0
  const fresh = await deployFiles({
    definition: edgeRouteDefinition(),
    bootstrap,
    dataPlane: defaultDataPlane,
    httpPort,
    finalizer,
    envoyVersion,
    version,
  })
  const names = readdirSync(new URL('deploy/', root), { recursive: true, encoding: 'utf8' })
  const kept = new Map(
    names
      .map((name) => [name, new URL(`deploy/${name}`, root)] as const)
      .filter(([, url]) => statSync(url).isFile())
      .map(([name, url]) => [name, readFileSync(url, 'utf8')]),
  )
  expect(kept).toEqual(new Map(Object.entries(fresh)))
})
