import {
  clusterType,
  endpointType,
  isFullState,
  listenerType,
  routeType,
  scopeType,
  type TypeUrl,
} from '../../../../core/type-url.js'
import type { Variant } from '../../../../core/xds/messages.js'
import { byChance } from './chance.js'
import { inspect } from './inspect.js'
import type { ReceivedResource, ReceivedResponse } from './messages.js'
import type { Refusal } from './options.js'

/** What a client makes of a response before it applies anything. */
export type Judgement =
  /** It breaks the protocol, or something spoils it: nothing of it counts. */
  | { readonly _tag: 'Malformed'; readonly message: string }
  | {
      readonly _tag: 'Judged'
      /** In the order in which they are applied; what Envoy does not come to is left out. */
      readonly judged: ReadonlyArray<JudgedResource>
      /** What is to be sent as the refusal; `undefined` where everything is good. */
      readonly message: string | undefined
    }

export interface JudgedResource {
  readonly resource: ReceivedResource
  /** Why it is not applied. */
  readonly fault: Fault | undefined
}

export interface Fault {
  readonly reason: string
  readonly whole?: boolean
  readonly sticks?: boolean
}

/** How a client looks at a response. */
export interface Judge {
  readonly variant: Variant
  readonly seed: number | undefined
  /** Whether a name is subscribed to; of the types of which everything is, each is. */
  readonly isWanted: (name: string) => boolean
  /** Is asked once for each resource, in their order. */
  readonly refuse: (resource: ReceivedResource) => Refusal | undefined
}

/** Judges a response: its form as a whole, its resources one by one. */
export const judge = (response: ReceivedResponse, by: Judge): Judgement => {
  const { typeUrl, resources } = response
  const malformed = problemOf(response, by.variant)
  if (malformed !== undefined) return { _tag: 'Malformed', message: malformed }
  const isTwice = seenBefore()
  const judged = resources.flatMap((resource): ReadonlyArray<JudgedResource> => {
    if (!by.isWanted(resource.name)) return []
    if (!isTwice(resource.name)) return [{ resource, fault: faultOf(typeUrl, resource, by) }]
    return isFullState(typeUrl) ? [{ resource, fault: twice(typeUrl, resource) }] : []
  })
  const spoiler = judged.find(({ fault }) => fault?.whole ?? (fault && typeUrl === scopeType))
  if (spoiler?.fault !== undefined) return { _tag: 'Malformed', message: spoiler.fault.reason }
  return isFullState(typeUrl) ? oneByOne(typeUrl, judged) : upToTheFirst(response, judged, by.seed)
}

const problemOf = (
  { typeUrl, resources, removed }: ReceivedResponse,
  variant: Variant,
): string | undefined => {
  const stray = resources.find((resource) => resource.typeUrl !== typeUrl)
  if (stray !== undefined)
    return `type URL ${stray.typeUrl} embedded in an individual Any does not match the message-wide type URL ${typeUrl}`
  const repeated = variant === 'delta' ? repetition(resources, removed) : undefined
  if (repeated !== undefined) return repeated
  return resources.map(({ bytes }) => unreadable(typeUrl, bytes)).find((text) => text !== undefined)
}

const repetition = (
  resources: ReadonlyArray<ReceivedResource>,
  removed: ReadonlyArray<string>,
): string | undefined => {
  const isTwice = seenBefore()
  const added = resources.find(({ name }) => isTwice(name))?.name
  if (added !== undefined) return `duplicate name ${added} found among added/updated resources`
  const name = removed.find(isTwice)
  return name === undefined
    ? undefined
    : `duplicate name ${name} found in the union of added+removed resources`
}

const seenBefore = (): ((name: string) => boolean) => {
  const seen = new Set<string>()
  return (name) => {
    if (seen.has(name)) return true
    seen.add(name)
    return false
  }
}

const unreadable = (typeUrl: TypeUrl, bytes: Uint8Array): string | undefined => {
  try {
    inspect(typeUrl, bytes)
    return undefined
  } catch (error) {
    return `Unable to unpack as ${typeUrl}: ${String(error)}`
  }
}

const faultOf = (typeUrl: TypeUrl, resource: ReceivedResource, by: Judge): Fault | undefined => {
  const refusal = wrongName(typeUrl, resource) ?? by.refuse(resource)
  return typeof refusal === 'string' ? { reason: refusal } : refusal
}

const wrongName = (typeUrl: TypeUrl, { name, bytes }: ReceivedResource): string | undefined => {
  const inner = inspect(typeUrl, bytes).name
  return inner === name ? undefined : `unexpected name (expecting ${name}): ${inner}`
}

/** With the state of the world the first of two with one name counts, save of scopes, of which none counts then. */
const twice = (typeUrl: TypeUrl, { name }: ReceivedResource): Fault => ({
  reason:
    typeUrl === scopeType
      ? `Error adding/updating scoped route(s): duplicate scoped route configuration '${name}' found`
      : `duplicate ${typeUrl === clusterType ? 'cluster' : 'listener'} ${name} found`,
})

/** Clusters and listeners stand each for itself, and Envoy names all culprits. */
const oneByOne = (typeUrl: TypeUrl, judged: ReadonlyArray<JudgedResource>): Judgement => {
  const faults = judged.flatMap(({ resource, fault }) =>
    fault === undefined ? [] : [`${resource.name}: ${fault.reason}`],
  )
  const message = faults.length === 0 ? undefined : showFaults(typeUrl, faults)
  return { _tag: 'Judged', judged, message }
}

const showFaults = (typeUrl: TypeUrl, faults: ReadonlyArray<string>): string => {
  switch (typeUrl) {
    case clusterType:
      return `Error adding/updating cluster(s) ${faults.join(', ')}`
    case listenerType:
      return `Error adding/updating listener(s) ${faults.map((fault) => `${fault}\n`).join('')}`
    case endpointType:
    case scopeType:
    case routeType:
      return faults.join(', ')
  }
}

/**
 * Route tables and endpoints are applied up to the first that is refused, which is also the only
 * one that Envoy names. In which order, nobody knows (xDS protocol, 2.8, D).
 */
const upToTheFirst = (
  { nonce }: ReceivedResponse,
  judged: ReadonlyArray<JudgedResource>,
  seed: number | undefined,
): Judgement => {
  const ordered =
    seed === undefined
      ? [...judged].sort((a, b) => Number(a.fault !== undefined) - Number(b.fault !== undefined))
      : byChance(judged, ({ resource }) => `${seed} ${nonce} ${resource.name}`)
  const first = ordered.find(({ fault }) => fault !== undefined)
  return {
    _tag: 'Judged',
    judged: first === undefined ? judged : ordered.slice(0, ordered.indexOf(first) + 1),
    message: first?.fault?.reason,
  }
}
