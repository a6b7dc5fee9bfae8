const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d{1,9})?(?:Z|[+-](\d\d):(\d\d))$/

/**
 * Milliseconds since the Unix epoch of a time as Kubernetes writes it (RFC 3339), or undefined if
 * there is no such time.
 */
export const parseTimestamp = (text: string): number | undefined => {
  const parts = rfc3339.exec(text)
  if (parts === null) return undefined
  const [year, month, day, hour, minute, second, offsetHour, offsetMinute] = parts
    .slice(1)
    .map((part: string | undefined) => Number(part ?? 0))
  const exists =
    isWithin(month, 1, 12) &&
    isWithin(day, 1, daysIn(year, month)) &&
    isWithin(hour, 0, 23) &&
    isWithin(minute, 0, 59) &&
    isWithin(second, 0, 59) &&
    isWithin(offsetHour, 0, 23) &&
    isWithin(offsetMinute, 0, 59)
  return exists ? Date.parse(text) : undefined
}

const isWithin = (value = -1, min: number, max: number): boolean => value >= min && value <= max

const daysIn = (year = 0, month = 0): number => {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0
}
