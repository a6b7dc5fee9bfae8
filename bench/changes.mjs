import { endpointType, routeType } from 'edgewright'

/** Each change is another one than all before, so that what arrives can be told from what was there. */
let count = 100_000

/** A new path for route `i`; all have the same length. */
export const changedPath = (i) => {
  count += 1
  const suffix = `v${count}`
  const marker = { typeUrl: routeType, text: `/r${i}-${suffix}` }
  return { cmd: 'changePath', i, suffix, marker }
}

/** A new address for backend `i`; all have the same length. */
export const changedEndpoint = (i) => {
  count += 1
  const part = (divisor) => 100 + (Math.floor(count / divisor) % 100)
  const address = `11.${part(10_000)}.${part(100)}.${part(1)}`
  return { cmd: 'changeEndpoint', i, address, marker: { typeUrl: endpointType, text: address } }
}

/** A prime, and no divisor of a round number. */
const stride = 7_919

/** Changes of objects from all over a world, in turn. */
export const endpointChanges = (run, { backends }) => changedEndpoint((run * stride) % backends)
export const pathChanges = (run, { routes }) => changedPath((run * stride) % routes)
