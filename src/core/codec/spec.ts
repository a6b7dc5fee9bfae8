import type { EdgeRouteSpec } from '../edge-route.js'
import { backends, headers, redirect, respond, retries, rewrite, timeouts } from './action.js'
import { expandMatch } from './canonical.js'
import { checkDnsLabel, checkHostname } from './check/names.js'
import { matches } from './match.js'
import { exactly } from './exactly.js'
import { text } from './leaves.js'
import { type Codec, type Issue, list, record, where } from './record.js'
import { exactlyOne, onlyWith, unique } from './rules.js'

/** Envoy keeps each in the hash of its virtual hosts; a route of more names wants a wildcard. */
const maxHostnames = 64

/**
 * The most claims of one object: hostnames times matches times methods. Each is a Route in Envoy's
 * tables, and all objects share those.
 */
const maxClaims = 4096

const hostnames = where(
  list(text(checkHostname), { min: 1, max: maxHostnames, of: 'hostnames' }),
  unique('hostname', (hostname) => hostname),
)

const spec = record(
  'an object with backends, redirect or respond',
  {},
  {
    dataPlane: text(checkDnsLabel),
    hostnames,
    matches,
    backends,
    redirect,
    respond,
    timeouts,
    retries,
    rewrite,
    headers,
  },
  [
    exactlyOne('backends', 'redirect', 'respond'),
    onlyWith('backends', ['timeouts', 'retries', 'rewrite']),
  ],
)

const together = (value: EdgeRouteSpec): ReadonlyArray<Issue> => [
  ...rewrittenRegexes(value),
  ...tooManyClaims(value),
]

const rewrittenRegexes = ({
  rewrite: change,
  matches: all = [],
}: EdgeRouteSpec): ReadonlyArray<Issue> => {
  const regex = all.findIndex(({ path }) => path?.regex !== undefined)
  if (change?.prefix === undefined || regex < 0) return []
  const message = `has no prefix to replace, as spec.matches[${regex}].path is a regex`
  return [{ keys: ['rewrite', 'prefix'], message }]
}

const tooManyClaims = ({
  hostnames: hosts,
  matches: all = [{}],
}: EdgeRouteSpec): ReadonlyArray<Issue> => {
  const perHost = all.reduce((sum, match) => sum + expandMatch(match).length, 0)
  const claims = (hosts?.length ?? 1) * perHost
  const message = `stands for ${claims} claims (hostnames times matches times methods): at most ${maxClaims}`
  return claims > maxClaims ? [{ message }] : []
}

/** The spec of an EdgeRoute, with everything that must hold of it. */
export const specCodec: Codec<EdgeRouteSpec> = where(exactly<EdgeRouteSpec>()(spec), together)
