import { endpointType, isFullState } from '../../../../core/type-url.js'
import type { Variant } from '../../../../core/xds/messages.js'
import type { Judgement } from './judge.js'
import type { ReceivedResource, ReceivedResponse } from './messages.js'
import type { HeldResource, Watch } from './state.js'

/**
 * What a watch is after a response, whether it is accepted or refused.
 *
 * Of a refused response the good resources work all the same, and so do removals; the refused ones
 * keep their old form. What the client reports stays behind then: that is how a real Envoy is.
 */
export const apply = (
  watch: Watch,
  response: ReceivedResponse,
  judgement: Judgement,
  variant: Variant,
): Watch => {
  const received: Watch = { ...watch, heard: true, nonce: response.nonce }
  if (judgement._tag === 'Malformed') return { ...received, settled: watch.names }
  const good = judgement.good.filter(
    ({ name }) => isFullState(response.typeUrl) || watch.names.has(name),
  )
  const held = updated(removeFrom(watch.held, gone(watch, response, variant)), good, toHeld)
  const accepted = judgement.message === undefined
  return {
    ...received,
    held,
    reported: accepted ? reportedAfter(watch.reported, response, good) : watch.reported,
    version: accepted ? response.version : watch.version,
    settled: accepted ? settledAfter(watch, response, good) : watch.names,
  }
}

/**
 * What a response takes away: of the full-state types what the state of the world leaves out, and what
 * an incremental response names. The hosts of a removed load assignment and a removed route table
 * stay (xDS protocol, statement 57).
 */
const gone = (
  watch: Watch,
  { typeUrl, resources, removed }: ReceivedResponse,
  variant: Variant,
): ReadonlyArray<string> => {
  if (!isFullState(typeUrl)) return []
  if (variant === 'delta') return removed
  const named = new Set(resources.map(({ name }) => name))
  return [...watch.held.keys()].filter((name) => !named.has(name))
}

/** A name that was removed is not reported, even where what it stood for stays in use. */
const reportedAfter = (
  reported: Watch['reported'],
  { removed }: ReceivedResponse,
  good: ReadonlyArray<ReceivedResource>,
): Watch['reported'] => updated(removeFrom(reported, removed), good, ({ version }) => version)

/** "There is none" settles endpoints; a route table is still waited for then. */
const settledAfter = (
  { names, settled }: Watch,
  { typeUrl, removed }: ReceivedResponse,
  good: ReadonlyArray<ReceivedResource>,
): Watch['settled'] => {
  const come = [...good.map(({ name }) => name), ...(typeUrl === endpointType ? removed : [])]
  return new Set([...settled, ...come.filter((name) => names.has(name))])
}

const toHeld = ({ version, bytes }: ReceivedResource): HeldResource => ({ version, bytes })

const updated = <A>(
  map: ReadonlyMap<string, A>,
  resources: ReadonlyArray<ReceivedResource>,
  valueOf: (resource: ReceivedResource) => A,
): ReadonlyMap<string, A> =>
  new Map([...map, ...resources.map((resource) => [resource.name, valueOf(resource)] as const)])

const removeFrom = <A>(
  map: ReadonlyMap<string, A>,
  names: ReadonlyArray<string>,
): ReadonlyMap<string, A> => {
  if (names.length === 0) return map
  const removed = new Set(names)
  return new Map([...map].filter(([name]) => !removed.has(name)))
}
