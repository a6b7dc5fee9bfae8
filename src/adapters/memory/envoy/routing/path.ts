/** How a listener changes requests before it looks for a route. */
export interface Normalization {
  readonly normalizePath: boolean
  readonly mergeSlashes: boolean
  readonly stripTrailingHostDot: boolean
}

/** A path without its query, and the query with its question mark, empty where there is none. */
export interface SplitPath {
  readonly path: string
  readonly query: string
}

export const splitPath = (pathAndQuery: string): SplitPath => {
  const at = pathAndQuery.indexOf('?')
  return at < 0
    ? { path: pathAndQuery, query: '' }
    : { path: pathAndQuery.slice(0, at), query: pathAndQuery.slice(at) }
}

/**
 * Normalises first and merges then, as Envoy does; the query stays as it is. `undefined` where Envoy
 * answers 400.
 */
export const normalizePath = (
  pathAndQuery: string,
  { normalizePath: normalizes, mergeSlashes: merges }: Normalization,
): string | undefined => {
  const { path, query } = splitPath(pathAndQuery)
  if (!acceptable.test(pathAndQuery) || (normalizes && path.includes('%00'))) return undefined
  const canonical = normalizes ? canonicalPath(path) : path
  return (merges ? mergeSlashes(canonical) : canonical) + query
}

/** Takes the dot off a fully qualified host name, before the port if it has one. */
export const normalizeHost = (host: string, options: Normalization): string =>
  options.stripTrailingHostDot ? host.replace(/\.(:[^.]*)?$/, '$1') : host

/** Takes the port off a host: what follows the last colon that is not inside of brackets, be it a number or not. */
export const withoutPort = (host: string): string => host.replace(/:[^\]:]*$/, '')

/** The parameters of a query in their order, neither decoded nor merged. */
export const queryParameters = (query: string): ReadonlyArray<readonly [string, string]> =>
  query
    .slice(1)
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const at = part.indexOf('=')
      return at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)]
    })

/** Printable ASCII without a fragment. */
const acceptable = /^\/[!"$-~]*$/

/**
 * Takes escapes for the characters that need none, and backslashes for slashes; escapes what must not
 * stand in a path; then removes dot segments. Other escapes stay as they are, in their case too.
 * (Seen on Envoy 1.40, for every octet.)
 */
const canonicalPath = (path: string): string =>
  removeDotSegments(
    path
      .replaceAll('\\', '/')
      .replace(/%([0-9a-f]{2})/gi, (escape, hex: string) => {
        const character = String.fromCharCode(parseInt(hex, 16))
        return /[A-Za-z0-9._~-]/.test(character) ? character : escape
      })
      .replace(
        /["<>^`{|}]/g,
        (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
      ),
  )

/** RFC 3986, section 5.2.4. */
const removeDotSegments = (path: string): string => {
  const segments = path.split('/').slice(1)
  const kept: Array<string> = []
  segments.forEach((segment, index) => {
    if (segment === '..') kept.pop()
    if (segment !== '.' && segment !== '..') kept.push(segment)
    else if (index === segments.length - 1) kept.push('')
  })
  return `/${kept.join('/')}`
}

/** Of a path of nothing but slashes Envoy leaves two: its `/` in front and its `/` behind. */
const mergeSlashes = (path: string): string =>
  /^\/{2,}$/.test(path) ? '//' : path.replace(/\/{2,}/g, '/')
