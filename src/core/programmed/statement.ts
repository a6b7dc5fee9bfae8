import { cutMessage } from '../cut-message.js'
import type { Refusal } from '../ledger.js'
import { compareStrings } from '../order.js'

/**
 * How far the Envoys are with a route.
 *
 * `generation` is the one that this speaks of: an older one, as long as nothing is to be said of the
 * present one.
 */
export type Programmed =
  /** Every Envoy that counts has accepted it. */
  | { readonly _tag: 'Programmed'; readonly generation: number }
  /** It is on its way, and was not programmed before, or was refused. */
  | ({ readonly _tag: 'Pending'; readonly generation: number } & NamedNodes)
  /** It was programmed; Envoys have not accepted its present form for too long. */
  | ({ readonly _tag: 'Lagging'; readonly generation: number } & NamedNodes)
  /**
   * Envoys refuse it: they go on with its previous form, or answer 503 where there is none. Or they refuse a
   * listener of its data plane, and serve nothing there.
   */
  | ({ readonly _tag: 'Refused'; readonly generation: number } & RefusedBy)
  /** Its data plane has no Envoy, and none that was lost. */
  | { readonly _tag: 'NoEnvoy'; readonly generation: number; readonly dataPlane: string }

/** The Envoys that a statement is about. */
export interface NamedNodes {
  /** The ids of at most `maxNamedNodes`, in order. */
  readonly nodes: ReadonlyArray<string>
  /** How many Envoys there are in all. Several may have one id. */
  readonly nodeCount: number
}

/** The Envoys that refuse something, and why. */
export interface RefusedBy extends NamedNodes {
  /** In the words of the first of these Envoys, cut to a size that a person reads. */
  readonly message: string
  /** The listener that this Envoy refuses; absent where it is the route, or a cluster of it. */
  readonly listener?: ListenerName
}

/** A listener of the configuration. */
export interface ListenerName {
  readonly dataPlane: string
  readonly name: string
}

/** How many Envoys are named: enough to go and look, and a condition stays readable in a large fleet. */
export const maxNamedNodes = 8

/** Names the first of these, and counts all. */
export const named = (ids: ReadonlyArray<string>): NamedNodes => ({
  nodes: [...new Set(ids)].sort(compareStrings).slice(0, maxNamedNodes),
  nodeCount: ids.length,
})

/** Names these too, as far as there is room. */
export const addNamed = (
  before: NamedNodes | undefined,
  ids: ReadonlyArray<string>,
): NamedNodes => ({
  nodes: named([...(before?.nodes ?? []), ...ids]).nodes,
  nodeCount: (before?.nodeCount ?? 0) + ids.length,
})

/** What is said of that which these refuse: one refusal for each node, and at least one. */
export const refusedBy = (refusals: ReadonlyArray<Refusal>): RefusedBy => ({
  message: cutMessage(firstOf(refusals)?.message ?? ''),
  ...named(refusals.map(({ node }) => node)),
})

/** What is said of a data plane of which nodes refuse a listener; nothing if there are none. One refusal for each. */
export const closedBy = (
  dataPlane: string,
  refusals: ReadonlyArray<Refusal>,
): RefusedBy | undefined => {
  const first = firstOf(refusals)
  return first && { ...refusedBy(refusals), listener: { dataPlane, name: first.name } }
}

const firstOf = (refusals: ReadonlyArray<Refusal>): Refusal | undefined =>
  [...refusals].sort((a, b) => compareStrings(a.node, b.node)).at(0)

/** True if both say the same. (They are plain data, always put together in the same order of fields.) */
export const isSameStatement = (a: Programmed | undefined, b: Programmed): boolean =>
  a === b ||
  (a?._tag === b._tag &&
    a.generation === b.generation &&
    (a._tag === 'Programmed' || JSON.stringify(a) === JSON.stringify(b)))
