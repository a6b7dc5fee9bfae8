/**
 * The canonical text of an IP address, or undefined if it is none.
 *
 * IPv4 as four decimal numbers without leading zeros; IPv6 without brackets and zone, written as in
 * RFC 5952: lower case, the longest run of zeros as `::`, IPv4-mapped addresses with dots.
 */
export const canonicalIp = (text: string): string | undefined => {
  if (!text.includes(':')) return ipv4Bytes(text) === undefined ? undefined : text
  const groups = text.length <= maxIpv6Length ? ipv6Groups(text) : undefined
  return groups === undefined ? undefined : showIpv6(groups)
}

/** The bytes of an IP address, four or sixteen, or undefined if it is none. */
export const ipBytes = (text: string): ReadonlyArray<number> | undefined => {
  if (!text.includes(':')) return ipv4Bytes(text)
  const groups = text.length <= maxIpv6Length ? ipv6Groups(text) : undefined
  return groups?.flatMap((group) => [group >> 8, group & 255])
}

/** The canonical text of an IP address of these bytes: the other way round from `ipBytes`. */
export const showIpBytes = (bytes: ReadonlyArray<number>): string =>
  bytes.length === 4
    ? bytes.join('.')
    : showIpv6(
        Array.from({ length: 8 }, (_, at) => (bytes[2 * at] ?? 0) * 256 + (bytes[2 * at + 1] ?? 0)),
      )

/** In characters: four numbers of three digits. */
const maxIpv4Length = 15

/** In characters: eight groups of four digits, the last two of them as an IPv4 address. */
const maxIpv6Length = 45

const ipv4Bytes = (text: string): ReadonlyArray<number> | undefined => {
  if (text.length > maxIpv4Length) return undefined
  const parts = text.split('.')
  const valid = parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)
  return valid && parts.length === 4 ? parts.map(Number) : undefined
}

const ipv6Groups = (text: string): ReadonlyArray<number> | undefined => {
  const [head = '', tail, ...more] = text.split('::')
  if (more.length > 0) return undefined
  if (tail === undefined) {
    const all = groupsOf(head, true)
    return all?.length === 8 ? all : undefined
  }
  const before = groupsOf(head, false)
  const after = groupsOf(tail, true)
  if (before === undefined || after === undefined) return undefined
  const missing = 8 - before.length - after.length
  return missing < 1 ? undefined : [...before, ...Array<number>(missing).fill(0), ...after]
}

const groupsOf = (text: string, isEnd: boolean): ReadonlyArray<number> | undefined => {
  if (text === '') return []
  const groups: Array<number> = []
  const parts = text.split(':')
  for (const [index, part] of parts.entries()) {
    if (/^[0-9A-Fa-f]{1,4}$/.test(part)) groups.push(parseInt(part, 16))
    else {
      const [a, b, c, d] = (isEnd && index === parts.length - 1 ? ipv4Bytes(part) : undefined) ?? []
      if (a === undefined || b === undefined || c === undefined || d === undefined) return undefined
      groups.push(a * 256 + b, c * 256 + d)
    }
  }
  return groups
}

const showIpv6 = (groups: ReadonlyArray<number>): string => {
  const [, , , , , , high = 0, low = 0] = groups
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff)
    return `::ffff:${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`
  const [start, length] = longestZeros(groups)
  const hex = groups.map((group) => group.toString(16))
  return length < 2
    ? hex.join(':')
    : `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`
}

/** The first of the longest runs. */
const longestZeros = (groups: ReadonlyArray<number>): readonly [start: number, length: number] => {
  let best: readonly [number, number] = [0, 0]
  let start = 0
  for (const [index, group] of groups.entries()) {
    if (group !== 0) start = index + 1
    else if (index + 1 - start > best[1]) best = [start, index + 1 - start]
  }
  return best
}
