import { checkDnsLabel } from '../../core/codec/check/names.js'
import { isIP, isIPv6 } from 'node:net'
import type { Either } from 'fp-ts/lib/Either.js'
import * as E from 'fp-ts/lib/Either.js'
import type { Context, HttpListener } from '../../core/context.js'
import { defaultContext } from '../../core/context.js'
import type { LabelOf } from './command.js'
import { parseDuration } from '../../core/duration.js'
import { maxIdLength } from '../../core/roster.js'
import { type HostPort, showHostPort } from '../bootstrap.js'

/** Port 0 stands for any free port, where somebody can be told which one it became. */
export type LeastPort = 0 | 1

/** The port of `--xds`, where nothing says otherwise. */
const exampleOfXds = 'HOST:PORT, as in 127.0.0.1:18000 or [::1]:18000'

/** Parses `HOST:PORT` or `[IPV6]:PORT`. `right` says what would be right, for people. */
export const parseHostPort = (
  option: string,
  text: string,
  leastPort: LeastPort = 1,
  right: string = exampleOfXds,
): Either<string, HostPort> => {
  const match = /^(?:\[([^\]]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text)
  const host = match?.[1] ?? match?.[2]
  const port = Number(match?.[3])
  if (host === undefined || (match?.[1] !== undefined && isIP(host) !== 6))
    return E.left(`${option} ${text}: should be ${right}`)
  return port >= leastPort && port <= 65_535
    ? E.right({ host, port })
    : E.left(`${option} ${text}: a port is from ${leastPort} to 65535`)
}

const exampleOfListener = '[NAME=]HOST:PORT, as in 0.0.0.0:10000 or http=[::]:10000'

/** Parses `[NAME=]HOST:PORT`; the name is `http` if absent. With port 0 each Envoy takes any port that is free. */
const parseListener = (label: string, text: string): Either<string, HttpListener> => {
  const at = text.indexOf('=')
  const name = at < 0 ? 'http' : text.slice(0, at)
  if (name === '') return E.left(`${label} ${text}: the name before the = is empty`)
  const parsed = parseHostPort(label, text.slice(at + 1), 0, exampleOfListener)
  if (E.isLeft(parsed)) return parsed
  const { host: address, port } = parsed.right
  return isIP(address) === 0
    ? E.left(`${label} ${text}: a listener's address is an IP address, such as 0.0.0.0`)
    : E.right({ name, address, port })
}

/** The world around the routes, as the command line has it: one data plane and its listeners. */
export const contextOf = (
  dataPlane: string,
  listeners: ReadonlyArray<string>,
  labelOf: LabelOf = (option) => `--${option}`,
): Either<string, Context> => {
  const parsed: Array<HttpListener> = []
  for (const [index, text] of listeners.entries()) {
    const label = labelOf('listener', index)
    const listener = parseListener(label, text)
    if (E.isLeft(listener)) return listener
    const clashes = parsed.map((other) => clashOf(listener.right, other))
    const clash = clashes.find((each) => each !== undefined)
    if (clash !== undefined) return E.left(`${label} ${text}: ${clash}`)
    parsed.push(listener.right)
  }
  const known = parseDataPlane(dataPlane, labelOf('data-plane'))
  if (E.isLeft(known)) return known
  return E.right({ ...defaultContext, dataPlanes: new Map([[dataPlane, { listeners: parsed }]]) })
}

/** Why two listeners cannot be there together, if they cannot: an Envoy would refuse the second. */
const clashOf = (
  { name, address, port }: HttpListener,
  other: HttpListener,
): string | undefined => {
  const place = showHostPort({ host: address, port })
  if (other.name === name)
    return `two listeners are called ${name}; name this one, as in --listener ${name}2=${place}`
  return port !== 0 && other.port === port && canonical(other.address) === canonical(address)
    ? `${name} would listen where ${other.name} does, on ${place}`
    : undefined
}

/** One form for each address: `::1` for `0:0:0:0:0:0:0:1`. One with a zone stays as it is. */
const canonical = (address: string): string =>
  isIPv6(address) && !address.includes('%') ? new URL(`http://[${address}]`).hostname : address

/** Envoy keeps such counts in 32 bits, or more. */
const maxCount = 2 ** 31 - 1

/** Parses a whole number from 1. */
export const parseCount = (option: string, text: string): Either<string, number> =>
  /^[1-9]\d*$/.test(text) && Number(text) <= maxCount
    ? E.right(Number(text))
    : E.left(`${option} ${text}: should be a whole number from 1 to ${maxCount}`)

/** A year, in hours: more than that is a mistake, or `never`. */
const maxHours = 366 * 24

/**
 * Parses how long a lost Envoy counts: a Go duration, to milliseconds, or `never`. Leading hours may be
 * more than the day that a timeout of a route may last.
 */
export const parseForgetAfter = (
  option: string,
  text: string,
): Either<string, number | undefined> => {
  if (text === 'never') return E.right(undefined)
  const [, hours, rest = text] = /^(\d+)h(.*)$/.exec(text) ?? []
  const parsed = hours !== undefined && rest === '' ? E.right(0) : parseDuration(rest)
  if (E.isLeft(parsed)) return E.left(`${option} ${text}: ${parsed.left}`)
  const ms = Number(hours ?? 0) * 3_600_000 + parsed.right
  if (ms === 0) return E.left(`${option} ${text}: nothing would ever be waited for`)
  return ms <= maxHours * 3_600_000
    ? E.right(ms)
    : E.left(`${option} ${text}: must be at most ${maxHours}h, or never`)
}

/** Parses one of a few words. */
export const parseChoice = <A extends string>(
  option: string,
  text: string,
  choices: ReadonlyArray<A>,
): Either<string, A> => {
  const choice = choices.find((each) => each === text)
  return choice === undefined
    ? E.left(`${option} ${text}: should be one of ${choices.join(', ')}`)
    : E.right(choice)
}

/** Parses the id of an Envoy: none that is empty, or longer than this, is ever written down. */
export const parseNodeId = (label: string, text: string): Either<string, string> => {
  if (text === '') return E.left(`${label}: should be the id of an Envoy; it is empty`)
  return text.length <= maxIdLength
    ? E.right(text)
    : E.left(`${label}: an id has at most ${maxIdLength} characters; this one has ${text.length}`)
}

/** The name of a fleet, as routes may name it. */
export const parseDataPlane = (
  text: string,
  label: string = '--data-plane',
): Either<string, string> => parseDnsLabel(label, text)

/** A name as Kubernetes has them for namespaces, and we for fleets. */
export const parseDnsLabel = (label: string, text: string): Either<string, string> => {
  const wrong = checkDnsLabel(text)
  return wrong === undefined ? E.right(text) : E.left(`${label} ${wrong}`)
}
