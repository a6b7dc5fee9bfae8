import { kubernetesRouteStore } from '../../src/adapters/k8s/route-store.js'
import {
  type ApiObject,
  memoryApiServer,
  memoryRoutes,
} from '../../src/adapters/memory/api-server/index.js'
import { emptyView, viewOf } from '../../src/adapters/memory/api-server/source-view.js'
import { virtualClock } from '../../src/adapters/memory/clock.js'
import type { StoredObject } from '../../src/core/stored-object.js'
import { apiDouble } from '../support/k8s-api-double.js'
import { memoryStoreWorld } from '../support/memory-store-world.js'
import { routeStoreContract } from './route-store.js'

/** As the source in memory reads an object. */
const storedInMemory = (object: ApiObject): StoredObject => {
  const [stored] = viewOf(emptyView, [object]).state.objects ?? []
  if (stored === undefined) throw new Error('an object that is there was not read')
  return stored
}

routeStoreContract('memory', () => {
  const clock = virtualClock()
  const server = memoryApiServer({ clock })
  return memoryStoreWorld(server, memoryRoutes(server, { clock }).store, storedInMemory)
})

routeStoreContract('kubernetes, on a server in memory', () => {
  const clock = virtualClock()
  const server = memoryApiServer({ clock })
  return memoryStoreWorld(server, kubernetesRouteStore(apiDouble(server), { clock }))
})
