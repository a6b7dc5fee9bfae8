/**
 * A time as Kubernetes writes a MicroTime: RFC 3339 in UTC with six digits, which its parser insists on. Times before
 * the year 0 and after 9999, which RFC 3339 has not, become the nearest that it has; one that is no number the first.
 */
export const microTimeOf = (ms: number): string => {
  const clamped = Math.min(maxMs, Math.max(minMs, ms))
  const micros = Math.round((Number.isNaN(clamped) ? minMs : clamped) * 1_000)
  const wholeMs = Math.floor(micros / 1_000)
  const rest = String(micros - wholeMs * 1_000).padStart(3, '0')
  return new Date(wholeMs).toISOString().replace(/Z$/, `${rest}Z`)
}

const minMs = Date.parse('0000-01-01T00:00:00.000Z')
const maxMs = Date.parse('9999-12-31T23:59:59.999Z')
