/**
 * Envoy's message may hold a dump of 4 KB with the reason at its end, or a short reason: of a long
 * one the first and the last characters are kept, in UTF-16 code units.
 */
const keptHead = 200
const keptTail = 400

/**
 * Cuts the message of an Envoy to a size that a person reads. Never in the middle of a character. White space at
 * its ends is left out: Envoy's often end with a line break.
 */
export const cutMessage = (message: string): string => {
  const said = message.trim()
  return said.length <= keptHead + keptTail
    ? said
    : `${headOf(said, keptHead)} … ${tailOf(said, keptTail)}`
}

/** At most so many of the first characters; what would be one half of a character is left out. */
export const headOf = (message: string, length: number): string =>
  message.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')

const tailOf = (message: string, length: number): string =>
  message.slice(-length).replace(/^[\uDC00-\uDFFF]/, '')
