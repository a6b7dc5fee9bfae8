import { readFile } from 'node:fs/promises'
import * as E from 'fp-ts/lib/Either.js'

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a directory',
}

/** Why a file could not be read. */
export interface Unreadable {
  readonly isMissing: boolean
  /** In words, as in `permission denied`. */
  readonly why: string
}

export const readText = async (path: string): Promise<E.Either<Unreadable, string>> => {
  try {
    return E.right(await readFile(path, 'utf8'))
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    return E.left({ isMissing: code === 'ENOENT', why: reasons[code] ?? String(cause) })
  }
}
