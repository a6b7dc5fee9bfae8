import {
  maxBodyBytes,
  maxHeaderNameLength,
  maxHeaderValueBytes,
  maxMatchValueLength,
  maxMethodLength,
  maxQueryNameBytes,
} from '../limits.js'
import { scopeHeader } from '../../table-form.js'
import { show } from '../show.js'

/** They frame a message on its connection, so that a change breaks the requests that come after it. */
const framing: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
])

/** Says what is wrong with the name of a header in a match. */
export const checkMatchedHeader = (name: string): string | undefined =>
  name.toLowerCase() === 'host'
    ? 'must not be host: use hostnames'
    : (checkReserved(name) ?? checkPseudo(name) ?? checkToken(name))

/** Says what is wrong with the name of a header that is set, added or removed. */
export const checkChangedHeader = (name: string): string | undefined => {
  if (name.toLowerCase() === 'host') return 'must not be host: use rewrite.host'
  if (framing.has(name.toLowerCase()))
    return `must not be ${show(name)}: it belongs to the connection`
  return checkReserved(name) ?? checkPseudo(name) ?? checkToken(name)
}

/** Says what is wrong with a method of a request. */
export const checkMethod = (method: string): string | undefined => {
  if (method === 'CONNECT') return 'must not be CONNECT: it has no path that could be routed'
  const isShort = method.length <= maxMethodLength
  if (isShort && /^[A-Z][A-Z0-9_-]*$/.test(method)) return undefined
  return isShort && /^[A-Za-z][\w-]*$/.test(method)
    ? `must be in upper case: write ${show(method.toUpperCase())}`
    : `must be a method such as "GET", not ${show(method)}`
}

/** Says what is wrong with a value that a header is compared with. */
export const checkHeaderMatch = (value: string): string | undefined =>
  checkLength(value) ??
  (/^[\t\x20-\x7e]*$/.test(value)
    ? checkOuterSpace(value)
    : 'must be visible ASCII, spaces and tabs: a header has nothing else')

const checkOuterSpace = (value: string): string | undefined =>
  value.trim() === value
    ? undefined
    : `must not begin or end with a space: Envoy trims headers; write ${show(value.trim())}`

/** Says what is wrong with the name of a query parameter. */
export const checkQueryName = (name: string): string | undefined => {
  if (name === '') return 'must not be empty'
  const bytes = utf8Length(name)
  if (bytes > maxQueryNameBytes) return `has ${bytes} bytes: at most ${maxQueryNameBytes}`
  return checkText(name) ?? checkControl(name) ?? checkRawQuery(name, /^[!-~]*$/, /[#&=]/)
}

/** Says what is wrong with a value that a query parameter is compared with. */
export const checkQueryMatch = (value: string): string | undefined =>
  checkLength(value) ??
  checkText(value) ??
  checkControl(value) ??
  checkRawQuery(value, /^[!-~]*$/, /[#&]/)

/** Envoy compares a query as it was sent, without decoding it: what cannot be sent can never match. */
const checkRawQuery = (raw: string, visible: RegExp, separators: RegExp): string | undefined =>
  visible.test(raw) && !separators.test(raw)
    ? undefined
    : `is compared as it was sent: write it percent-encoded, ${show(encodeURIComponent(raw))}`

/** Says what is wrong with the value of a header that is set or added. */
export const checkHeaderValue = (value: string): string | undefined => {
  // Envoy's values are format strings: a `%` travels as two.
  const bytes = utf8Length(value) + value.split('%').length - 1
  if (bytes > maxHeaderValueBytes)
    return `has ${bytes} bytes, with each "%" as two: at most ${maxHeaderValueBytes}`
  return checkText(value) ?? checkControl(value.replaceAll('\t', ''))
}

/** Says what is wrong with the body of a fixed response. */
export const checkBody = (body: string): string | undefined => {
  const bytes = utf8Length(body)
  return bytes > maxBodyBytes
    ? `has ${bytes} bytes: Envoy takes at most ${maxBodyBytes}`
    : checkText(body)
}

/** It comes and goes with the form of the route tables, which must make no difference to any route. */
const checkReserved = (name: string): string | undefined =>
  name.toLowerCase() === scopeHeader
    ? `must not be ${scopeHeader}: edgewright writes it for itself, in place of what a client says there`
    : undefined

const checkPseudo = (name: string): string | undefined =>
  name.startsWith(':') ? `must not be the pseudo header ${show(name)}` : undefined

const checkToken = (name: string): string | undefined => {
  if (name.length > maxHeaderNameLength)
    return `has ${name.length} characters: at most ${maxHeaderNameLength}`
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)
    ? undefined
    : `must be the name of a header, such as "x-version", not ${show(name)}`
}

const checkLength = (value: string): string | undefined => {
  if (value === '') return 'must not be empty: use "present: true" for any value'
  return value.length > maxMatchValueLength
    ? `has ${value.length} characters: at most ${maxMatchValueLength}`
    : undefined
}

/** Half a character cannot be sent. */
const checkText = (value: string): string | undefined =>
  /\p{Surrogate}/u.test(value) ? 'has half a character (a lone surrogate)' : undefined

const checkControl = (value: string): string | undefined => {
  const control = /\p{Cc}/u.exec(value)?.[0]
  return control === undefined ? undefined : `must not have the control character ${show(control)}`
}

const utf8Length = (value: string): number => new TextEncoder().encode(value).length
