import * as E from 'fp-ts/lib/Either.js'
import type { FieldError } from '../../core/field-error.js'
import { readYaml } from './yaml-stream.js'

/** A text that is one YAML document. */
export interface YamlText {
  /** Only of types that JSON has too, with no key twice; `undefined` where the text has no content. */
  readonly value: unknown
  /** Adds to an error the line of its field, or of what encloses that. */
  readonly locate: (error: FieldError) => FieldError
}

/**
 * Reads a text as one YAML document, with the rules and limits that files of routes have too.
 *
 * Total: a left says what is wrong, also where there is more than one document.
 */
export const readYamlText = (text: string): E.Either<ReadonlyArray<FieldError>, YamlText> => {
  const reading = readYaml(text)
  let piece = reading.next()
  while (piece.done !== true) piece = reading.next()
  if (E.isLeft(piece.value)) return E.left([piece.value.left])
  const [document, ...more] = piece.value.right.filter((each) => each !== undefined)
  if (more.length > 0) return E.left([{ path: '', message: 'has more than one document' }])
  if (document === undefined) return E.right({ value: undefined, locate: (error) => error })
  const { locate } = document
  return E.Functor.map(document.value, (value) => ({ value, locate }))
}
