import { sign } from 'node:crypto'

/** A service account that exists. */
export interface ServiceAccount {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** What the API server calls itself in the tokens that it signs. */
export const tokenIssuer = 'https://kubernetes.default.svc'

/** How long after its end the API server still takes a token (go-jose's default), in milliseconds. */
const leewayMs = 60_000

/**
 * A token of a service account, signed as the API server itself would, that is taken for `lifeMs` and no longer. (The
 * API itself gives none that lives for less than ten minutes.)
 *
 * Guarantees: none is refused earlier than a second before its end. One that was seen before may be taken for up to
 * 10 s more, which is how long the API server remembers.
 */
export const signToken = (privateKey: string, account: ServiceAccount, lifeMs: number): string => {
  const { namespace, name, uid } = account
  const nowMs = Date.now()
  const endsAt = Math.floor((nowMs + lifeMs - leewayMs) / 1000)
  const beginsAt = Math.min(endsAt, Math.floor(nowMs / 1000)) - leewayMs / 1000
  const claims = {
    iss: tokenIssuer,
    aud: [tokenIssuer],
    sub: `system:serviceaccount:${namespace}:${name}`,
    exp: endsAt,
    iat: beginsAt,
    nbf: beginsAt,
    'kubernetes.io': { namespace, serviceaccount: { name, uid } },
  }
  const signed = [{ alg: 'ES256', typ: 'JWT' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const
  return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`
}
