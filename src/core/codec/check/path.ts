import { maxPathLength } from '../limits.js'
import { show } from '../show.js'

/**
 * Says what is wrong with a literal path.
 *
 * It must stand in the form in which Envoy sees a request's path after its normalisation (RFC 3986
 * as Chromium does it, and merged slashes): another one could never match.
 */
export const checkPath = (path: string): string | undefined => {
  if (!path.startsWith('/')) return `must start with "/": write ${show(`/${path}`)}`
  if (path.length > maxPathLength) return `has ${path.length} characters: at most ${maxPathLength}`
  const query = /[?#]/.exec(path)
  if (query !== null)
    return `must be a path alone: write ${show(path.slice(0, query.index))}, without ${show(path.slice(query.index))}`
  const odd = /[^\x21-\x7e]/u.exec(path)?.[0]
  if (odd !== undefined) return `must be ASCII without spaces: ${percentHint(odd)}`
  const escape = /%(?![0-9A-Fa-f]{2})(.{0,2})|%00/.exec(path)
  if (escape !== null) return `has ${show(escape[0])}, which is no escape of a character`
  const normal = normalPath(path)
  return path === normal ? undefined : `is normalised before it is matched: write ${show(normal)}`
}

const percentHint = (character: string): string =>
  isLoneSurrogate(character)
    ? 'it has half a character'
    : `write ${show(encodeURIComponent(character))} for ${show(character)}`

const isLoneSurrogate = (character: string): boolean => /\p{Surrogate}/u.test(character)

/** The path as Envoy matches it. */
const normalPath = (path: string): string => {
  const decoded = path
    .replaceAll('\\', '/')
    .replace(/%[0-9A-Fa-f]{2}/g, (escape) => {
      const character = String.fromCharCode(parseInt(escape.slice(1), 16))
      return /[A-Za-z0-9\-._~]/.test(character) ? character : escape
    })
    .replace(/["<>^`{|}]/g, (character) => encodeURIComponent(character))
  const kept: Array<string> = []
  const segments = decoded.split('/').slice(1)
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1
    if (segment === '..') kept.pop()
    else if (segment !== '.' && segment !== '') kept.push(segment)
    if (isLast && (segment === '..' || segment === '.' || segment === '')) kept.push('')
  }
  return `/${kept.join('/')}`
}
