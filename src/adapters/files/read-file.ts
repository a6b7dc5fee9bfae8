import type { BigIntStats } from 'node:fs'
import { constants, type FileHandle, open, stat } from 'node:fs/promises'
import { isGone, showIoError } from './io-error.js'
import { parseFile } from './parse.js'
import type { Reading } from './reading.js'
import type { InTurns } from './turns.js'

/** The largest file that is read: some 2,000 routes. What is larger is no file of routes. */
export const maxFileBytes: number = 1024 * 1024

/** How often a file that changes while it is read is read again within one scan. */
const maxAttempts = 3

/**
 * What was read, and the stamp of the file at that time; none where the reading must not be kept.
 */
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
 * A file counts as read only if it was the same before and after. What has the stamp of `known` is
 * not opened, and neither is what is no regular file; no more than `maxFileBytes` of it are ever in
 * memory. It is parsed `inTurns`; where that comes to nothing, so does this.
 */
export const readFile = async (
  path: string,
  known: Stamped | undefined,
  inTurns: InTurns,
): Promise<Stamped | undefined> => {
  let seen: string | undefined
  try {
    const stats = await stat(path, { bigint: true })
    const stamp = stampOf(stats)
    seen = stamp
    if (known?.stamp === stamp) return known
    const refusal = refusalOf(stats)
    if (refusal !== undefined) return { stamp, reading: unreadable(refusal, stamp) }
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const content = await readOnce(path)
      if (content !== undefined) return await parse(content, inTurns)
    }
    return { stamp: undefined, reading: unreadable('it changes while it is read', stamp) }
  } catch (error) {
    if (await isGone(path, error)) return undefined
    return { stamp: undefined, reading: unreadable(showIoError(error), seen) }
  }
}

interface Content {
  readonly stamp: string
  readonly bytes: Uint8Array
}

/** Nothing where the file changed meanwhile. Does not wait for the other end of a pipe. */
const readOnce = async (path: string): Promise<Content | undefined> => {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const before = await file.stat({ bigint: true })
    if (refusalOf(before) !== undefined) return undefined
    const bytes = await readBytes(file, Number(before.size) + 1)
    const after = await file.stat({ bigint: true })
    if (stampOf(before) !== stampOf(after) || bytes.length !== Number(after.size)) return undefined
    return { stamp: stampOf(after), bytes }
  } finally {
    await file.close()
  }
}

/** Skips a byte order mark. */
const parse = async ({ stamp, bytes }: Content, inTurns: InTurns): Promise<Stamped | undefined> => {
  if (bytes.length === 0) return { stamp, reading: { _tag: 'Empty' } }
  const text = decodeUtf8(bytes)
  if (text === undefined) return { stamp, reading: unreadable('it is not text in UTF-8', stamp) }
  const reading = await inTurns(parseFile(text))
  return reading && { stamp, reading }
}

/** Why a file is not to be read at all. */
const refusalOf = (stats: BigIntStats): string | undefined => {
  if (stats.isDirectory()) return 'it is a directory, though its name is that of a file'
  if (!stats.isFile()) return 'it is not a regular file'
  if (stats.size <= BigInt(maxFileBytes)) return undefined
  const mebibytes = (Number(stats.size) / 1024 / 1024).toFixed(1)
  return `it is too large: ${mebibytes} MiB, and at most ${maxFileBytes / 1024 / 1024} MiB are read`
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

const decodeUtf8 = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const unreadable = (message: string, stamp: string | undefined): Reading => ({
  _tag: 'Unreadable',
  message: `cannot be read: ${message}`,
  stamp,
})
