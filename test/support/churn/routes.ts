import type { Context, EdgeRoute, EndpointSlice, Service } from 'edgewright'
import type { Backend, Form } from './plan.js'

const namespace = 'churn'
const servicePort = 80

/** The object of a form. */
export const routeOf = (form: Form, backendPort: number): EdgeRoute => ({
  metadata: {
    namespace,
    name: `route-${form.slot}`,
    uid: form.uid,
    generation: form.generation,
    finalizers: [],
  },
  spec: {
    matches: [{ path: { prefix: form.prefix } }],
    timeouts: { request: form.requestTimeout },
    backends: form.backends.map(({ address, by, weight }) =>
      by === 'address'
        ? { address: { host: address, port: backendPort }, weight }
        : { service: { name: serviceName(address), port: servicePort }, weight },
    ),
  },
})

/** The Services of these forms, each with one endpoint. */
export const servicesOf = (
  forms: Iterable<Form>,
  backendPort: number,
): Pick<Context, 'services' | 'endpointSlices'> => {
  const addresses = new Set(
    [...forms].flatMap(({ backends }) => backends.filter(isService).map(({ address }) => address)),
  )
  return {
    services: [...addresses].map(service),
    endpointSlices: [...addresses].map((address) => slice(address, backendPort)),
  }
}

const isService = ({ by }: Backend): boolean => by === 'service'

const serviceName = (address: string): string => `at-${address.replaceAll('.', '-')}`

const service = (address: string): Service => ({
  namespace,
  name: serviceName(address),
  ports: [{ name: '', port: servicePort }],
})

const slice = (address: string, backendPort: number): EndpointSlice => ({
  namespace,
  name: serviceName(address),
  service: serviceName(address),
  ports: [{ name: '', port: backendPort }],
  endpoints: [{ addresses: [address], ready: true }],
})
