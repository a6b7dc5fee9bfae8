import type { Context } from '../../src/core/context.js'
import { defaultDataPlane } from '../../src/core/edge-route.js'
import type { TableForm } from '../../src/core/table-form.js'
import type { SpecChoice } from './steps.js'

export const namespace = 'm'

/** How many objects there can be at once. */
export const nameCount = 5

export const nameOf = (name: number): string => `r${name % nameCount}`

/** The response headers that say which object answers, and in which form. */
export const markHeader = 'x-object'
export const formHeader = 'x-form'

const hosts = [
  undefined,
  ['a.test'],
  ['a.test', '*.b.test'],
  ['*.b.test'],
  ['c.test', 'd.b.test'],
  ['d.b.test'],
  ['e.test', 'a.test'],
] as const

/** How many choices of hosts there are; the first of them are few, and are all that some runs have. */
export const hostCount = hosts.length
export const fewHosts = 4
const paths = ['/', '/a', '/a/b', '/c'] as const

/** The host of the backend whose name resolves late, if ever. */
export const slowHost = 'h5.test'

/** The host of a backend that some Envoys refuse. */
export const hostOf = (backend: number): string => `h${backend}.test`

export const backendCount = 9

/** The spec of a route. Its answers name the object, whatever else they are. */
export const specOf = (
  { host, path, backend, spice, isInvalid }: SpecChoice,
  mark: string,
  form: number,
): unknown => {
  const hostnames = hosts[host % hosts.length]
  return {
    ...(hostnames && { hostnames }),
    matches: [{ path: { prefix: paths[path % paths.length] } }],
    ...actionOf(backend % backendCount),
    headers: {
      ...(spice > 0 && { request: { set: [{ name: 'x-spice', value: `hot${spice}` }] } }),
      response: {
        set: [
          { name: markHeader, value: mark },
          { name: formHeader, value: String(form) },
        ],
      },
    },
    ...(isInvalid && { respond: { code: 42 } }),
  }
}

const actionOf = (backend: number): object => {
  if (backend < 4) return { backends: [{ service: { name: `s${backend}`, port: 80 } }] }
  if (backend < 7) return { backends: [{ address: { host: hostOf(backend), port: 80 } }] }
  return backend === 7 ? { respond: { code: 200 } } : { backends: twoBackends }
}

const twoBackends = [
  { service: { name: 's0', port: 80 }, weight: 9 },
  { address: { host: '10.0.0.7', port: 8080 } },
] as const

/** The listeners of a data plane: a port that moves, a name that changes, one that comes and goes. */
const listeners = [
  [{ name: 'http', address: '0.0.0.0', port: 10_000 }],
  [{ name: 'http', address: '0.0.0.0', port: 10_001 }],
  [{ name: 'web', address: '0.0.0.0', port: 10_000 }],
  [
    { name: 'http', address: '0.0.0.0', port: 10_000 },
    { name: 'alt', address: '0.0.0.0', port: 10_002 },
  ],
] as const

export const contextCount = listeners.length

/** The port that somebody else may have. */
export const contestedPort = 10_001

/** Services 0 to 2, of which the last has no endpoints; there is no service 3. */
export const contextOf = (index: number, shards: number, form?: TableForm): Context => ({
  dataPlanes: new Map([
    [
      defaultDataPlane,
      {
        listeners: listeners[index % listeners.length] ?? listeners[0],
        shards,
        ...(form !== undefined && { form }),
      },
    ],
  ]),
  services: [0, 1, 2].map((n) => ({ namespace, name: `s${n}`, ports: [{ name: '', port: 80 }] })),
  endpointSlices: [0, 1].map((n) => ({
    namespace,
    name: `s${n}-1`,
    service: `s${n}`,
    ports: [{ name: '', port: 8080 }],
    endpoints: [{ addresses: [`10.0.0.${n + 1}`], ready: true }],
  })),
})
