import type { IncomingHttpHeaders } from 'node:http'

/**
 * How long a reply asks to wait, in milliseconds. `Retry-After` is in seconds, or a date (RFC 9110,
 * section 10.2.3), which is compared with the date of the reply itself, so that clocks need not
 * agree.
 */
export const retryAfterMs = (headers: IncomingHttpHeaders, nowMs: number): number | undefined => {
  const asked = headers['retry-after']?.trim() ?? ''
  if (/^\d+$/.test(asked)) return Number(asked) * 1_000
  const atMs = Date.parse(asked)
  if (Number.isNaN(atMs)) return undefined
  const sentMs = Date.parse(headers.date ?? '')
  return Math.max(0, atMs - (Number.isNaN(sentMs) ? nowMs : sentMs))
}
