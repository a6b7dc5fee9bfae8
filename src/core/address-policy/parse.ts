import { type Either, left, right } from 'fp-ts/lib/Either.js'
import { ipBytes } from '../codec/check/ip.js'
import { checkHost } from '../codec/check/names.js'
import { show } from '../codec/show.js'
import type { AddressPolicy } from '../context.js'
import type { FieldError } from '../field-error.js'
import { compareStrings } from '../order.js'
import { parseCidr } from './cidr.js'
import { whyBlockNeverAllowed, whyNeverAllowed } from './never.js'

/**
 * Reads a policy as people write it: a list of CIDR blocks (`10.0.0.0/8`, `fd00::/8`), of suffixes of host
 * names (`.example.com` or `*.example.com`) and of host names (`example.com`, which stands for all below it
 * too).
 *
 * The policy is sorted, and has each entry once. On the left is what is wrong with each entry, `[0]` for the
 * first. An empty list is a policy that allows nothing.
 */
export const parseAddressPolicy = (
  entries: ReadonlyArray<string>,
): Either<ReadonlyArray<FieldError>, AddressPolicy> => {
  const read = entries.map(readEntry)
  const errors = read.flatMap((entry, index) =>
    entry._tag === 'Wrong' ? [{ path: `[${index}]`, message: entry.message }] : [],
  )
  if (errors.length > 0) return left(errors)
  const all = (tag: 'Cidr' | 'Suffix'): ReadonlyArray<string> => {
    const texts = read.flatMap((entry) => (entry._tag === tag ? [entry.text] : []))
    return [...new Set(texts)].sort(compareStrings)
  }
  return right({ cidrs: all('Cidr'), suffixes: all('Suffix') })
}

type Entry =
  | { readonly _tag: 'Cidr' | 'Suffix'; readonly text: string }
  | { readonly _tag: 'Wrong'; readonly message: string }

const readEntry = (given: string): Entry => {
  const text = given.trim().toLowerCase()
  if (text === '') return wrong('is empty: write a block such as "10.0.0.0/8", or ".example.com"')
  return text.includes('/') || ipBytes(text) !== undefined ? readBlock(text) : readSuffix(text)
}

const readBlock = (text: string): Entry => {
  const cidr = parseCidr(text)
  if (cidr._tag === 'Left') return wrong(cidr.left)
  const why = whyBlockNeverAllowed(cidr.right)
  return why === undefined
    ? { _tag: 'Cidr', text }
    : wrong(`can never be allowed: ${show(text)} is ${why}; leave it out`)
}

const readSuffix = (text: string): Entry => {
  const domain = text.replace(/^\*?\./, '')
  if (domain === '' || domain === '*')
    return wrong(`must end in a domain, as in ".example.com": ${show(text)} is every name there is`)
  const mistake = checkHost(domain)
  if (mistake !== undefined) return wrong(mistake)
  const why = whyNeverAllowed(domain)
  if (why !== undefined)
    return wrong(`can never be allowed: ${show(domain)} is ${why}; leave it out`)
  return { _tag: 'Suffix', text: domain === text ? domain : `.${domain}` }
}

const wrong = (message: string): Entry => ({ _tag: 'Wrong', message })
