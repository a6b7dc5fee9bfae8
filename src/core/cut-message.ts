/**
 * Envoy's message may hold a dump of 4 KB with the reason at its end, or a short reason: of a long
 * one the first and the last characters are kept, in UTF-16 code units.
 */
const keptHead = 200
const keptTail = 400

/** Cuts the message of an Envoy to a size that a person reads. Never in the middle of a character. */
export const cutMessage = (message: string): string =>
  message.length <= keptHead + keptTail
    ? message
    : `${headOf(message, keptHead)} … ${tailOf(message, keptTail)}`

/** At most so many of the first characters; what would be one half of a character is left out. */
export const headOf = (message: string, length: number): string =>
  message.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')

const tailOf = (message: string, length: number): string =>
  message.slice(-length).replace(/^[\uDC00-\uDFFF]/, '')
