const rfc3339 =
  /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:Z|([+-])(\d\d):(\d\d))$/

/**
 * Milliseconds since the Unix epoch of a time as Kubernetes writes it (RFC 3339), or undefined if
 * there is no such time.
 */
export const parseTimestamp = (text: string): number | undefined => {
  const parts = rfc3339.exec(text)
  if (parts === null) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(1).map(Number)
  const [, , , , , , , fraction = '', sign = '+', offsetHours = '00', offsetMinutes = '00'] = parts
  if (hour > 23 || minute > 59 || second > 59) return undefined
  if (Number(offsetHours) > 23 || Number(offsetMinutes) > 59) return undefined
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined
  const milliseconds = Number(fraction.padEnd(3, '0').slice(0, 3))
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === '-' ? -1 : 1)
  return Date.UTC(year, month - 1, day, hour, minute - offset, second, milliseconds)
}

const daysIn = (year: number, month: number): number => {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0
}
