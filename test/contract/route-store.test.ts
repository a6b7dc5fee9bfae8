import { kubernetesRouteStore } from '../../src/adapters/k8s/route-store.js'
import { memoryApiServer, memoryRoutes } from '../../src/adapters/memory/api-server/index.js'
import { virtualClock } from '../../src/adapters/memory/clock.js'
import { apiDouble } from '../support/k8s-api-double.js'
import { memoryStoreWorld } from '../support/memory-store-world.js'
import { routeStoreContract } from './route-store.js'

routeStoreContract('memory', () => {
  const clock = virtualClock()
  const server = memoryApiServer({ clock })
  return memoryStoreWorld(server, memoryRoutes(server, { clock }).store)
})

routeStoreContract('kubernetes, on a server in memory', () => {
  const clock = virtualClock()
  const server = memoryApiServer({ clock })
  return memoryStoreWorld(server, kubernetesRouteStore(apiDouble(server), { clock }))
})
