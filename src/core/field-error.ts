/** What is wrong with one field of an object, in words that say what would be right. */
export interface FieldError {
  /** As in `spec.matches[0].path.prefix`; empty for the object as a whole. */
  readonly path: string
  readonly message: string
}

export const showFieldError = ({ path, message }: FieldError): string =>
  path === '' ? message : `${path}: ${message}`
