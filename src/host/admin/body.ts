import type { IncomingMessage } from 'node:http'

/** What a client has sent behind its headers. */
export type Body =
  | { readonly _tag: 'Json'; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly _tag: 'TooLarge' }
  | { readonly _tag: 'NotAnObject' }
  /** It has gone before it had sent all. */
  | { readonly _tag: 'Gone' }

/** Reads a JSON object of at most so many bytes; nothing at all counts as an empty one. */
export const readBody = (request: IncomingMessage, maxBytes: number): Promise<Body> => {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes)
    return Promise.resolve({ _tag: 'TooLarge' })
  return new Promise((resolve) => {
    const chunks: Array<Buffer> = []
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= maxBytes) return void chunks.push(chunk)
      request.pause()
      resolve({ _tag: 'TooLarge' })
    })
    request.on('end', () => resolve(parse(Buffer.concat(chunks).toString('utf8'))))
    request.on('error', () => resolve({ _tag: 'Gone' }))
    request.on('close', () => resolve({ _tag: 'Gone' }))
  })
}

const parse = (text: string): Body => {
  if (text === '') return { _tag: 'Json', fields: {} }
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? { _tag: 'Json', fields: value } : { _tag: 'NotAnObject' }
  } catch {
    return { _tag: 'NotAnObject' }
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
