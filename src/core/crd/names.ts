import { maxLabelLength, maxNameLength, maxPortNameLength } from '../codec/limits.js'
import { matches, rule, type Rule, type Schema, text, withRules } from './schema.js'

/** `*.` before a name. */
const wildcardLength = 2
/** `:` and a port behind a name. */
const portLength = 6

const label = `[a-z0-9](?:[-a-z0-9]{0,${maxLabelLength - 2}}[a-z0-9])?`
const name = `${label}(?:\\.${label})*`

const octet = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])'
const ipv4 = `(?:${octet}\\.){3}${octet}`

const group = '[0-9A-Fa-f]{1,4}'
const tail = `(?:${group}:${group}|${ipv4})`

const atMost = (count: number): string =>
  count === 0 ? '' : `(?:(?:${group}:){0,${count - 1}}${group})?`

const exactly = (count: number): string =>
  count < 2 ? group.repeat(count) : `(?:${group}:){${count - 2}}${tail}`

/** RFC 3986, `IPv6address`: eight groups, or fewer around a `::` that stands for at least one. */
const ipv6 = [
  exactly(8),
  ...[0, 1, 2, 3, 4, 5, 6, 7].map((after) => `${atMost(7 - after)}::${exactly(after)}`),
].join('|')

/** A label of a DNS name, such as the name of a Service. */
export const dnsLabel = (description: string, more: Pick<Schema, 'default'> = {}): Schema =>
  text(description, maxLabelLength, { pattern: `^${label}$`, ...more })

/** A last label of digits alone belongs to an IPv4 address. `host` is a CEL expression. */
const isNoFalseIpv4 = (host: string): string =>
  `!${matches('(?:^|[.])[0-9]+$', host)} || ${matches(`^${ipv4}$`, host)}`

const falseIpv4 = 'looks like an IPv4 address, but is none'

const atMostOneName = (size: string): Rule =>
  rule(`${size} <= ${maxNameLength}`, `has a name of more than ${maxNameLength} characters`)

/** A host that a route claims. */
export const hostname: Schema = withRules(
  text('An exact host name in lower case, or `*.suffix`.', wildcardLength + maxNameLength),
  rule(
    matches(`^(?:\\*\\.)?${name}$`),
    'must be a host name in lower case, such as "shop.example.com" or "*.example.com", without scheme and port',
  ),
  rule(isNoFalseIpv4('self'), falseIpv4),
  atMostOneName('self.startsWith("*.") || self.size()'),
)

/** The host that a request is rewritten to. */
export const hostAndPort: Schema = withRules(
  text(
    'The host that the backend gets in place of the one asked for, with or without a port.',
    maxNameLength + portLength,
  ),
  rule(
    matches(`^${name}(?::[0-9]{1,5})?$`),
    'must be a host name in lower case or an IPv4 address, with or without a port',
  ),
  rule(isNoFalseIpv4('self.split(":")[0]'), falseIpv4),
  atMostOneName('self.split(":")[0].size()'),
  rule(
    `!${matches('^[^:]*:[0-9]{1,5}$')} || (int(self.split(":")[1]) >= 1 && int(self.split(":")[1]) <= 65535)`,
    'has a port that must be from 1 to 65535',
  ),
)

/** The host that a client is sent to. */
export const urlHost: Schema = withRules(
  text('The host to send clients to; the one asked for if absent.', maxNameLength),
  rule(
    matches(`^(?:${name}|\\[(?:${ipv6})\\])$`),
    'must be a host name in lower case, an IPv4 address, or an IPv6 address in brackets',
  ),
  rule(`self.startsWith("[") || ${isNoFalseIpv4('self')}`, falseIpv4),
)

/** The host of a backend. */
export const address: Schema = withRules(
  text('An IP address or a DNS name.', maxNameLength),
  rule(
    matches(`^(?:${name.replaceAll('a-z', 'A-Za-z')}|${ipv6})$`),
    'must be a host name or an IP address, without scheme, brackets and port',
  ),
  rule(`self.contains(":") || ${isNoFalseIpv4('self')}`, falseIpv4),
)

/** A port by number or by name. */
export const servicePort: Schema = {
  description: 'The port of the Service, by number or by name.',
  'x-kubernetes-int-or-string': true,
  minimum: 1,
  maximum: 65_535,
  maxLength: maxPortNameLength,
  /** RFC 6335: a service name; at least one letter. */
  pattern: '^(?:[a-z0-9]+-)*[a-z0-9]*[a-z][a-z0-9]*(?:-[a-z0-9]+)*$',
}
