import {
  clusterType,
  endpointType,
  listenerType,
  routeType,
  type TypeUrl,
} from '../../../../core/type-url.js'
import { inspect } from './inspect.js'
import type { ReceivedResource, ReceivedResponse } from './messages.js'
import type { Refuse } from './state.js'

/** What a client makes of a response before it applies anything. */
export type Judgement =
  /** It breaks the protocol: nothing of it counts. */
  | { readonly _tag: 'Malformed'; readonly message: string }
  | {
      readonly _tag: 'Judged'
      readonly good: ReadonlyArray<ReceivedResource>
      /** The names of those that are refused. */
      readonly bad: ReadonlySet<string>
      /** What is to be sent as the refusal; `undefined` where everything is good. */
      readonly message: string | undefined
    }

/** Judges a response: its form as a whole, its resources one by one. */
export const judge = (response: ReceivedResponse, refuse: Refuse): Judgement => {
  const malformed = problemOf(response)
  if (malformed !== undefined) return { _tag: 'Malformed', message: malformed }
  const reasons = new Map<string, string>()
  for (const resource of response.resources) {
    const reason =
      wrongName(response.typeUrl, resource) ??
      refuse(response.typeUrl, resource.name, resource.bytes)
    if (reason !== undefined) reasons.set(resource.name, reason)
  }
  return {
    _tag: 'Judged',
    good: response.resources.filter(({ name }) => !reasons.has(name)),
    bad: new Set(reasons.keys()),
    message: reasons.size === 0 ? undefined : showReasons(response.typeUrl, reasons),
  }
}

const problemOf = ({ typeUrl, resources, removed }: ReceivedResponse): string | undefined => {
  const stray = resources.find((resource) => resource.typeUrl !== typeUrl)
  if (stray !== undefined)
    return `type URL ${stray.typeUrl} embedded in an individual Any does not match the message-wide type URL ${typeUrl}`
  const twice = firstTwice([...resources.map(({ name }) => name), ...removed])
  if (twice !== undefined) return `duplicate name ${twice} found in one response`
  return resources.map(({ bytes }) => unreadable(typeUrl, bytes)).find((text) => text !== undefined)
}

const firstTwice = (names: ReadonlyArray<string>): string | undefined => {
  const seen = new Set<string>()
  return names.find((name) => {
    if (seen.has(name)) return true
    seen.add(name)
    return false
  })
}

const unreadable = (typeUrl: TypeUrl, bytes: Uint8Array): string | undefined => {
  try {
    inspect(typeUrl, bytes)
    return undefined
  } catch (error) {
    return `Unable to unpack as ${typeUrl}: ${String(error)}`
  }
}

const wrongName = (typeUrl: TypeUrl, { name, bytes }: ReceivedResource): string | undefined => {
  const inner = inspect(typeUrl, bytes).name
  return inner === name ? undefined : `unexpected name (expecting ${name}): ${inner}`
}

/** Envoy names the culprits of the types that it applies one by one. */
const showReasons = (typeUrl: TypeUrl, reasons: ReadonlyMap<string, string>): string => {
  const each = [...reasons].map(([name, reason]) => `${name}: ${reason}`).join(', ')
  switch (typeUrl) {
    case clusterType:
      return `Error adding/updating cluster(s) ${each}`
    case listenerType:
      return `Error adding/updating listener(s) ${each}`
    case endpointType:
    case routeType:
      return [...reasons.values()].join(', ')
  }
}
