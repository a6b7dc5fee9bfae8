/**
 * How many documents a file may have. A valid EdgeRoute takes some 100 bytes, so that no file of
 * the largest size holds many more of them; of documents that are none, it could hold a hundred
 * thousand.
 */
export const maxDocuments = 10_000

/**
 * How long a document may be, in UTF-16 code units: a hundred usual routes. Each is read in one
 * piece, which holds the event loop: a usual route for a millisecond, and 64 KiB for half a second
 * as a rule, or two at worst (of brackets or commas alone, on a busy machine).
 */
export const maxDocumentLength: number = 64 * 1024

/**
 * What is too much in a text to parse it, if anything is. Costs one pass over the text.
 *
 * Looks only at the lines that can end a document (in a text that is YAML, they do so wherever they
 * stand).
 */
export const oversizeOf = (text: string): string | undefined => {
  let documents = 0
  let start = 0
  for (const { index } of text.matchAll(boundaries)) {
    documents += 1
    if (documents > maxDocuments) return `has more than ${maxDocuments} documents: split it`
    if (index - start > maxDocumentLength) return tooLong(text, start)
    start = index
  }
  return text.length - start > maxDocumentLength ? tooLong(text, start) : undefined
}

const boundaries = /(?<![^\n])(?:---|\.\.\.)(?![^\s])/g

const tooLong = (text: string, start: number): string => {
  const line = text.slice(0, start).split('\n').length
  return `has a document of more than ${maxDocumentLength / 1024} KiB, which begins on line ${line}`
}
