import type { EdgeRouteSpec } from '../edge-route.js'
import { backends, headers, redirect, respond, retries, rewrite, timeouts } from './action.js'
import { checkDnsLabel, checkHostname } from './check/names.js'
import { matches } from './match.js'
import { exactly } from './exactly.js'
import { text } from './leaves.js'
import { maxClaims, maxHostnames } from './limits.js'
import { type Codec, type Issue, list, record, where } from './record.js'
import { exactlyOne, onlyWith, unique } from './rules.js'

/**
 * The most bytes that one object may put into a route table, about: each of its claims carries the whole
 * action and all header changes. Every Envoy of the fleet loads the table anew at each change.
 */
const maxTableBytes = 4 * 1024 * 1024

/** What a field takes beside its text: tags, lengths, a digest. */
const overheadBytes = 64

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
  ...tooMuch(value),
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

const tooMuch = (value: EdgeRouteSpec): ReadonlyArray<Issue> => {
  const tooMany = tooManyClaims(value)
  return tooMany.length > 0 ? tooMany : tooHeavy(value)
}

const tooManyClaims = ({
  hostnames: hosts,
  matches: all = [{}],
}: EdgeRouteSpec): ReadonlyArray<Issue> => {
  const perHost = all.reduce((sum, { methods }) => sum + (methods?.length ?? 1), 0)
  const claims = (hosts?.length ?? 1) * perHost
  if (claims <= maxClaims) return []
  const message = `stands for ${claims} claims (hostnames times matches times methods): at most ${maxClaims}`
  return [{ message }]
}

const tooHeavy = (value: EdgeRouteSpec): ReadonlyArray<Issue> => {
  const { hostnames: hosts, matches: all = [{}] } = value
  const action = weigh([
    value.backends,
    value.redirect,
    value.respond,
    value.rewrite,
    value.headers,
  ])
  const perHost = all.reduce(
    (sum, match) => sum + (action + weigh(match)) * (match.methods?.length ?? 1),
    0,
  )
  const bytes = (hosts?.length ?? 1) * perHost
  if (bytes <= maxTableBytes) return []
  const message = [
    `stands for about ${Math.ceil(bytes / 1024)} KiB of every route table, since each combination of`,
    `hostname, match and method carries the whole action: at most ${maxTableBytes / 1024} KiB`,
  ].join(' ')
  return [{ message }]
}

/** About what a value takes in bytes when it is encoded: its texts, and something for each of its fields. */
const weigh = (value: unknown, depth = 0): number => {
  if (typeof value === 'string') return overheadBytes + bytesOf(value)
  if (typeof value !== 'object' || value === null || depth > maxDepth) return overheadBytes
  return Object.values(value).reduce<number>((sum, each) => sum + weigh(each, depth + 1), 0)
}

/** Encoded, with each `%` as two, as it is in the value of a header. */
const bytesOf = (text: string): number =>
  Buffer.byteLength(text) + (text.includes('%') ? text.split('%').length - 1 : 0)

/** How deep the objects of a spec go: `headers.request.set[0].name`. */
const maxDepth = 5

/** The spec of an EdgeRoute, with everything that must hold of it. */
export const specCodec: Codec<EdgeRouteSpec> = where(exactly<EdgeRouteSpec>()(spec), together)
