import { compose, ownsIn, type Substitute } from '../compose.js'
import { Route } from '../../gen/envoy/config/route/v3/route_components.js'
import { digest } from '../digest.js'
import {
  type Fragment,
  hostHead,
  type Resource,
  type TableHost,
  tableResource,
  type Uid,
} from '../resource.js'
import type { Trial } from './plan.js'
import type { UnitKind } from './search.js'

/**
 * A regular expression that is none, with a text of our own in it that comes back in the refusal. (With a
 * hyphen in it the refusal would be for a range, and not show it.)
 */
const poison = '[edgewright_probe'

/**
 * A table that is always refused, and says by the refusal whether what is tried would be: it holds that
 * and nothing else, and behind it, where Envoy looks last, a route that nobody takes. A refusal that names the
 * poison found nothing else wrong.
 *
 * For a client of which nobody knows what it holds: half a table, accepted, would take the other half's
 * routes from it. A refused table changes nothing (run).
 */
export const probe = (table: Resource, trial: Trial): Resource => {
  const tried = new Map(trial.map(({ name, kind }) => [name, kind]))
  const half = compose(table, undefined, new Map(table.owners.flatMap(substituteFor(tried))))
  if (half.content._tag === 'Bytes') return half
  const { head, virtualHosts } = half.content.table
  return tableResource(half.name, { head, virtualHosts: [...virtualHosts, poisonedHost] })
}

const substituteFor =
  (tried: ReadonlyMap<Uid, UnitKind>) =>
  (uid: Uid): ReadonlyArray<readonly [Uid, Substitute]> => {
    const kind = tried.get(uid)
    if (kind === undefined) return [[uid, 'Absent']]
    return kind === 'Claims' ? [[uid, 'Unavailable']] : []
  }

/** Whose the route is that nobody takes. */
export const nobody: Uid = ''

/** True if the table has something of what is tried. */
export const concerns = (table: Resource, trial: Trial): boolean =>
  table.content._tag === 'Table' &&
  trial.some(({ kind, name }) => kind !== 'Resource' && ownsIn(table, name))

/**
 * True if a refused probe says that there was nothing else to refuse. Only a short message counts: others quote
 * the table, poison and all.
 */
export const namesPoison = (message: string): boolean =>
  message.length <= maxPoisonMessage && message.includes(poison)

/** Envoy says `missing ]: ` and the poison; a refusal that quotes the table is much longer. */
const maxPoisonMessage = 100

const poisonedHost: TableHost = ((): TableHost => {
  const name = 'edgewright-probe.invalid'
  const match = Route.encode({
    match: { pathSpecifier: { $case: 'safeRegex', value: { regex: poison } } },
  }).finish()
  const rest = Route.encode({
    action: { $case: 'directResponse', value: { status: 503 } },
  }).finish()
  const fragment: Fragment = {
    owner: nobody,
    virtualHost: name,
    claim: digest([name]),
    sortKey: '',
    path: { _tag: 'Regex', value: poison },
    match,
    rest,
    version: digest([match, rest]),
    clusters: [],
  }
  return { name, head: hostHead({ name, domains: [name] }), fragments: [fragment] }
})()
