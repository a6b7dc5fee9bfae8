import { maxClaims, maxHostnames } from '../codec/limits.js'
import { defaultDataPlane } from '../edge-route.js'
import { backends, headers, redirect, respond, retries, rewrite, timeouts } from './action.js'
import { matchesSchema } from './match.js'
import { dnsLabel, hostname } from './names.js'
import { list, object, present, rule, type Rule, type Schema, withRules } from './schema.js'

const dataPlane = withRules(
  dnsLabel('The fleet of Envoys that serves the route. Immutable.', { default: defaultDataPlane }),
  rule('self == oldSelf', 'is immutable: make another route instead'),
)

const hostnames = list(
  'The hosts that the route claims; every host if absent. The most specific one decides.',
  hostname,
  1,
  maxHostnames,
  'set',
)

const onlyWithBackends = (field: string): Rule =>
  rule(
    `has(self.backends) || !has(self.${field})`,
    `has ${field}, which goes only with backends: leave it out`,
  )

/** The spec of an EdgeRoute. */
export const specSchema: Schema = withRules(
  object('Which requests the route claims, and where they go.', {
    dataPlane,
    hostnames,
    matches: matchesSchema,
    backends,
    redirect,
    respond,
    timeouts,
    retries,
    rewrite,
    headers,
  }),
  rule(
    present('exists_one', ['backends', 'redirect', 'respond']),
    'must have exactly one of backends, redirect and respond',
  ),
  ...['timeouts', 'retries', 'rewrite'].map(onlyWithBackends),
  rule(
    '!has(self.rewrite) || !has(self.rewrite.prefix) || !has(self.matches) || ' +
      'self.matches.all(match, !has(match.path) || !has(match.path.regex))',
    'has rewrite.prefix, and a regex in matches that has no prefix to replace',
  ),
  rule(
    '!has(self.matches) || (has(self.hostnames) ? self.hostnames.size() : 1) * ' +
      `self.matches.map(match, has(match.methods) ? match.methods.size() : 1).sum() <= ${maxClaims}`,
    `must stand for at most ${maxClaims} claims (hostnames times matches times methods)`,
  ),
)
