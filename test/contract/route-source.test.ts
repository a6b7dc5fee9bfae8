import { filesRouteSource } from '../../src/adapters/files/index.js'
import { memoryRouteSource } from '../../src/adapters/memory/route-source.js'
import type { EdgeRoute } from '../../src/core/edge-route.js'
import { routeDirectory, routeYaml } from './route-directory.js'
import { routeSourceContract } from './route-source.js'

const routeOf = (name: string, code: number): EdgeRoute => ({
  metadata: { namespace: 'shop', name, uid: `uid-of-${name}`, generation: 1, finalizers: [] },
  spec: { respond: { code } },
})

routeSourceContract('memory', (routes) => {
  const source = memoryRouteSource(
    Object.entries(routes).map(([name, code]) => routeOf(name, code)),
  )
  return {
    source,
    put: (name, code) => {
      source.report([])
      source.apply(routeOf(name, code))
    },
    remove: (name) => {
      source.delete({ namespace: 'shop', name })
    },
    spoil: (name) => {
      const errors = [{ path: 'spec', message: 'is wrong' }]
      source.report([
        {
          where: `shop/${name}`,
          key: { namespace: 'shop', name },
          errors,
          keepsLastGood: true,
        },
      ])
    },
  }
})

routeSourceContract('files', async (routes) => {
  const directory = await routeDirectory()
  const put = (name: string, code: number): Promise<void> =>
    directory.write(`${name}.yaml`, routeYaml(name, code))
  for (const [name, code] of Object.entries(routes)) await put(name, code)
  return {
    source: filesRouteSource({ directory: directory.path }),
    put,
    remove: (name) => directory.remove(`${name}.yaml`),
    spoil: (name) => directory.write(`${name}.yaml`, '{ half written'),
  }
})
