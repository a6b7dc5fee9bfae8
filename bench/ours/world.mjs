// The world as edgewright's sources give it. bench/peer/world.go makes the same one.

const namespace = 'bench'

/**
 * The same words as those of `newWorld` in bench/peer/world.go: with no backends each route has one of its own.
 * With an `upstream`, a port of this machine, that is where all backends are, each under an address of its own.
 */
export const worldOf = ({ routes, form, backends, upstream }) => {
  const count = backends === 0 ? routes : backends
  const network = upstream === undefined ? '10.0' : '127.1'
  return {
    routes: Array.from({ length: routes }, (_, i) =>
      routeOf(i, hostOf(form, i), `/r${i}`, i % count),
    ),
    backends: {
      services: Array.from({ length: count }, (_, i) => ({
        namespace,
        name: `backend-${i}`,
        ports: [{ name: '', port: 8080 }],
      })),
      endpointSlices: Array.from({ length: count }, (_, i) =>
        sliceOf(i, `${network}.${i >> 8}.${i & 255}`, upstream),
      ),
    },
    problems: [],
  }
}

/** The world after one change. Shares with the one before all that it does not touch. */
export const changed = (world, { cmd, i, address, suffix }) => {
  switch (cmd) {
    case 'changeEndpoint': {
      const { backends } = world
      const endpointSlices = backends.endpointSlices.with(i, sliceOf(i, address))
      return { ...world, backends: { ...backends, endpointSlices } }
    }
    case 'changePath': {
      const { spec, metadata } = world.routes[i]
      const matches = [{ path: { prefix: `/r${i}-${suffix}` } }]
      const route = {
        metadata: { ...metadata, generation: metadata.generation + 1 },
        spec: { ...spec, matches },
      }
      return { ...world, routes: world.routes.with(i, route) }
    }
    default:
      throw new Error(`there is no change ${cmd}`)
  }
}

const hostOf = (form, i) => {
  if (form === 'hosts') return `host-${i}.example.com`
  if (form === 'prefixes') return 'shop.example.com'
  throw new Error(`the form is ${form}: take hosts or prefixes`)
}

const routeOf = (i, host, prefix, backend) => ({
  metadata: { namespace, name: `r${i}`, uid: `uid-${i}`, generation: 1, finalizers: [] },
  spec: {
    hostnames: [host],
    matches: [{ path: { prefix } }],
    backends: [{ service: { name: `backend-${backend}`, port: 8080 } }],
  },
})

const sliceOf = (i, address, port = 8080) => ({
  namespace,
  name: `backend-${i}-x`,
  service: `backend-${i}`,
  ports: [{ name: '', port }],
  endpoints: [{ addresses: [address], ready: true }],
})
