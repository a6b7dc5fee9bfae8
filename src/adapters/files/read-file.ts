import type { BigIntStats } from 'node:fs'
import { constants, type FileHandle, open, stat } from 'node:fs/promises'
import { isGone, showIoError } from './io-error.js'
import { parseFile } from './parse.js'
import type { Reading } from './reading.js'

/** The largest file that is read: some 2,000 routes. What is larger is no file of routes. */
export const MAX_FILE_BYTES: number = 1024 * 1024

/** How often a file that changes while it is read is read again within one scan. */
const MAX_ATTEMPTS = 3

/** What was read, and the stamp of the file at that time; none where the reading must not be kept. */
export interface Stamped {
  readonly stamp: string | undefined
  readonly reading: Reading
}

/** What tells one content of a file from another, without reading it. */
const stampOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join(':')

/**
 * Reads a file of routes, if it is there. Never rejects: what stands in the way is the reading.
 *
 * A file counts as read only if it was the same before and after. What has the stamp of `known` is not opened,
 * and neither is what is no regular file; no more than `MAX_FILE_BYTES` of it are ever in memory.
 */
export const readFile = async (
  path: string,
  known: Stamped | undefined,
): Promise<Stamped | undefined> => {
  try {
    const stats = await stat(path, { bigint: true })
    if (known?.stamp === stampOf(stats)) return known
    const refusal = refusalOf(stats)
    if (refusal !== undefined) return { stamp: stampOf(stats), reading: refused(refusal) }
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const read = await readOnce(path)
      if (read !== undefined) return read
    }
    return unreadable('it changes while it is read')
  } catch (error) {
    if (await isGone(path, error)) return undefined
    return unreadable(showIoError(error))
  }
}

/** Nothing where the file changed meanwhile. Does not wait for the other end of a pipe. */
const readOnce = async (path: string): Promise<Stamped | undefined> => {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const before = await file.stat({ bigint: true })
    if (refusalOf(before) !== undefined) return undefined
    const bytes = await readBytes(file, Number(before.size) + 1)
    const after = await file.stat({ bigint: true })
    if (stampOf(before) !== stampOf(after) || bytes.length !== Number(after.size)) return undefined
    return { stamp: stampOf(after), reading: readingOf(bytes) }
  } finally {
    await file.close()
  }
}

/** Why a file is not to be read at all. */
const refusalOf = (stats: BigIntStats): string | undefined => {
  if (stats.isDirectory()) return 'it is a directory, though its name is that of a file'
  if (!stats.isFile()) return 'it is not a regular file'
  if (stats.size <= BigInt(MAX_FILE_BYTES)) return undefined
  const mebibytes = (Number(stats.size) / 1024 / 1024).toFixed(1)
  return `it is too large: ${mebibytes} MiB, and at most ${String(MAX_FILE_BYTES / 1024 / 1024)} MiB are read`
}

const readBytes = async (file: FileHandle, limit: number): Promise<Uint8Array> => {
  const bytes = new Uint8Array(limit)
  let length = 0
  while (length < limit) {
    const { bytesRead } = await file.read(bytes, length, limit - length, length)
    if (bytesRead === 0) break
    length += bytesRead
  }
  return bytes.subarray(0, length)
}

/** Skips a byte order mark. */
const readingOf = (bytes: Uint8Array): Reading => {
  const text = decodeUtf8(bytes)
  return text === undefined ? refused('it is not text in UTF-8') : parseFile(text)
}

const decodeUtf8 = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const unreadable = (message: string): Stamped => ({ stamp: undefined, reading: refused(message) })

const refused = (message: string): Reading => ({
  _tag: 'Unreadable',
  message: `cannot be read: ${message}`,
})
