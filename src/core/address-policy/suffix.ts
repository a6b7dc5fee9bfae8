/** True for names that have at least one more label than `domain`, and end in it. */
export const isBelow = (domain: string, name: string): boolean => name.endsWith(`.${domain}`)

/**
 * True if a suffix allows a name in lower case: `.example.com` every name below it, `example.com` that one
 * too. Labels are never cut. (So has Go's `NO_PROXY`.)
 */
export const allowsName = (suffix: string, name: string): boolean => {
  const domain = suffix.replace(/^\*?\./, '').toLowerCase()
  if (domain === '') return false
  return isBelow(domain, name) || (domain === name && domain === suffix.toLowerCase())
}
