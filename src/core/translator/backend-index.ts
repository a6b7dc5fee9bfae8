import type { EndpointSlice, Service } from '../context.js'
import { serviceKey, serviceKeyOf, type ServiceState } from '../translate/endpoints.js'
import { changeByKey, changedList, type ListChange, strayIn } from './list-change.js'

/** Services and their slices, by the key of the Service. */
export interface BackendIndex {
  readonly find: (key: string) => ServiceState | undefined
  /** What of these was never added, or was removed before: the first of them, by name. */
  readonly stray: (
    services: ReadonlyArray<Service>,
    slices: ReadonlyArray<EndpointSlice>,
  ) => string | undefined
  /** Takes in what has changed; gives the keys of the Services that it touches. */
  readonly update: (
    services: ListChange<Service>,
    slices: ListChange<EndpointSlice>,
  ) => ReadonlySet<string>
}

/** Begins with nothing. A change costs what else there is of the same Service. */
export const backendIndex = (): BackendIndex => {
  const states = new Map<string, ServiceState>()
  const put = (key: string, next: (state: ServiceState) => ServiceState): void => {
    const state = next(states.get(key) ?? nothing)
    if (state.services.length + state.slices.length === 0) states.delete(key)
    else states.set(key, state)
  }
  return {
    find: (key) => states.get(key),
    stray: (services, slices) => {
      for (const [key, { removed }] of changeByKey({ removed: services, added: [] }, serviceKey))
        if (strayIn(states.get(key)?.services ?? [], removed)) return `the Service ${key}`
      for (const [key, { removed }] of changeByKey({ removed: slices, added: [] }, serviceKeyOf))
        if (strayIn(states.get(key)?.slices ?? [], removed)) return `a slice of the Service ${key}`
      return undefined
    },
    update: (services, slices) => {
      const touched = new Set<string>()
      for (const [key, change] of changeByKey(services, serviceKey)) {
        put(key, (state) => ({ ...state, services: changedList(state.services, change) }))
        touched.add(key)
      }
      for (const [key, change] of changeByKey(slices, serviceKeyOf)) {
        put(key, (state) => ({ ...state, slices: changedList(state.slices, change) }))
        touched.add(key)
      }
      return touched
    },
  }
}

const nothing: ServiceState = { services: [], slices: [] }
