import { maxLabelLength, maxNameLength, maxPortNameLength } from '../limits.js'
import { show } from '../show.js'
import { canonicalIp } from './ip.js'

const label = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?'
const labelPattern = new RegExp(`^${label}$`)
const namePattern = new RegExp(`^${label}(?:\\.${label})*$`)

/** Says what is wrong with the name of a Service, a namespace or a data plane. */
export const checkDnsLabel = (value: string): string | undefined => {
  if (value.length > maxLabelLength) return tooLong(value, maxLabelLength)
  return labelPattern.test(value)
    ? undefined
    : `must be lower-case letters, digits and "-", not ${show(value)}`
}

/** Says what is wrong with the name of an object. */
export const checkObjectName = (value: string): string | undefined => {
  if (value.length > maxNameLength) return tooLong(value, maxNameLength)
  return namePattern.test(value)
    ? undefined
    : `must be lower-case letters, digits, "-" and ".", not ${show(value)}`
}

/** Says what is wrong with the name of a port of a Service. */
export const checkPortName = (value: string): string | undefined => {
  if (/^\d+$/.test(value)) return `must be a number or a name: write ${value} without quotes`
  if (value.length > maxPortNameLength) return tooLong(value, maxPortNameLength)
  return /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(value) && /[a-z]/.test(value)
    ? undefined
    : `must be a port's number or name, such as "http", not ${show(value)}`
}

/** Says what is wrong with a hostname that a route claims: exact, or `*.suffix`. */
export const checkHostname = (value: string): string | undefined => {
  if (value === '*') return 'must be a name or "*.suffix": leave hostnames out for every host'
  const suffix = value.startsWith('*.') ? value.slice(2) : value
  if (suffix.includes('*')) return `may have "*" only as its first label, as in "*.example.com"`
  const lower = value.toLowerCase()
  if (value !== lower && checkHostname(lower) === undefined)
    return `must be in lower case: write ${show(lower)}`
  if (suffix === value) return checkHost(value)
  return canonicalIp(suffix) === undefined
    ? checkName(suffix)
    : 'must be a name: an IP address has no wildcard'
}

/** Says what is wrong with a host that is named exactly: a DNS name in lower case or an IPv4 address. */
export const checkHost = (value: string): string | undefined =>
  value.includes(':') || canonicalIp(value) === undefined ? checkName(value) : undefined

/** `checkHost`, with an optional port behind it. */
export const checkHostAndPort = (value: string): string | undefined => {
  const [, host = value, port] = /^([^:]*):(\d{1,5})$/.exec(value) ?? []
  if (port !== undefined && !isPort(Number(port)))
    return `has the port ${port}: it must be from 1 to 65535`
  return checkHost(host)
}

/** `checkHost`, or an IPv6 address in brackets, as in a URL. */
export const checkUrlHost = (value: string): string | undefined => {
  const inner = /^\[(.*)\]$/.exec(value)?.[1]
  if (inner?.includes(':') === true && canonicalIp(inner) !== undefined) return undefined
  return canonicalIp(value)?.includes(':') === true
    ? `must have brackets: write "[${value}]"`
    : checkHost(value)
}

/** Says what is wrong with the host of a backend: an IP address or a DNS name. */
export const checkAddress = (value: string): string | undefined => {
  const inner = /^\[(.*)\]$/.exec(value)?.[1]
  if (inner !== undefined) return `must have no brackets: write ${show(inner)}`
  return canonicalIp(value) === undefined ? checkName(value.toLowerCase()) : undefined
}

/** A whole number that can be a port. */
export const isPort = (value: number): boolean =>
  Number.isInteger(value) && value >= 1 && value <= 65_535

const checkName = (value: string): string | undefined => {
  const mistake = commonMistake(value)
  if (mistake !== undefined) return mistake
  if (value.length > maxNameLength) return tooLong(value, maxNameLength)
  const long = value.split('.').find((part) => part.length > maxLabelLength)
  if (long !== undefined) return `has the label ${show(long)}: at most ${maxLabelLength} characters`
  if (!namePattern.test(value))
    return `must be a host name in lower case, such as "shop.example.com", not ${show(value)}`
  return /(?:^|\.)\d+$/.test(value) ? `looks like an IPv4 address, but is none` : undefined
}

const commonMistake = (value: string): string | undefined => {
  const scheme = /^[A-Za-z]+:\/\//.exec(value)?.[0]
  if (scheme !== undefined) return `must be a host without a scheme: leave ${show(scheme)} out`
  if (/[^\x00-\x7f]/.test(value)) return 'must be ASCII: write its punycode form, "xn--…"'
  const port = /^[^:]*(:\d+)$/.exec(value)?.[1]
  if (port !== undefined) return `must be a host without a port: leave ${show(port)} out`
  if (value.endsWith('.')) return `must not end with a dot: write ${show(value.slice(0, -1))}`
  return undefined
}

const tooLong = (value: string, max: number): string =>
  `has ${value.length} characters: at most ${max}`
