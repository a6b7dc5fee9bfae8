import type { OutgoingHttpHeaders } from 'node:http'
import type { AgentOptions, RequestOptions } from 'node:https'
import * as E from 'fp-ts/lib/Either.js'
import type { Clock } from '../../../ports/clock.js'
import {
  askKubeConfig,
  type Asked,
  forgetful,
  isFromProgram,
  tokenFileOf,
} from './ask-kube-config.js'
import type { KubeCluster, KubeConfig } from './kube-config.js'
import { credentialsMs, maxAskMs, minRenewalMs, tokenFileMs } from './limits.js'

/** What goes with a request, so that the server knows who asks, and we know the server. */
export interface Credentials {
  readonly headers: OutgoingHttpHeaders
  /** For the connection. */
  readonly tls: AgentOptions
  /** Equal for equal `tls`. */
  readonly tlsKey: string
  /** What these credentials are, for people. */
  readonly what: string
}

/** A left says what is wrong, for people. */
export type Given = E.Either<string, Credentials>

export interface CredentialSource {
  /**
   * Those to be used now; the last good ones where new ones cannot be had. As long as they are
   * equal, the same object.
   */
  readonly current: () => Promise<Given>
  /** Those to be used after these were refused: asked for anew, unless others have come since. */
  readonly after: (refused: Credentials) => Promise<Given>
  /** Why the last attempt to get new ones has failed; `undefined` where it has not. */
  readonly problem: () => string | undefined
}

interface State {
  asks: KubeConfig
  given: Given | undefined
  askedAtMs: number
  /** When what was given was made anew for certain, and not remembered by the library. */
  renewedAtMs: number
  problem: string | undefined
  /** Whoever asks meanwhile gets the same answer. */
  asking: Promise<Given> | undefined
}

/**
 * Gets credentials from a KubeConfig, and keeps them for a while: a token in a file for a few
 * seconds, everything else for a minute (a program may take long; how long its answer holds is the
 * library's to know).
 */
export const credentialsFrom = (
  kubeConfig: KubeConfig,
  cluster: KubeCluster,
  clock: Clock,
): CredentialSource => {
  const user = kubeConfig.getCurrentUser()
  const isFile = tokenFileOf(user) !== undefined
  const state = nothingGiven(kubeConfig, clock.nowMs())
  const take = (asked: E.Either<string, Asked>): Given => {
    state.askedAtMs = clock.nowMs()
    state.problem = E.isLeft(asked) ? asked.left : undefined
    state.given = newer(state.given, E.isLeft(asked) ? asked : E.right(credentialsOf(asked.right)))
    return state.given
  }
  const ask = (): Promise<Given> => {
    state.asking ??= inTime(clock, askKubeConfig(state.asks, cluster))
      .then(take)
      .finally(() => (state.asking = undefined))
    return state.asking
  }
  const isLater = (atMs: number, ageMs: number): boolean => clock.nowMs() - atMs >= ageMs
  return {
    current: async () => {
      const { given } = state
      if (given === undefined || E.isLeft(given)) return ask()
      return isLater(state.askedAtMs, isFile ? tokenFileMs : credentialsMs) ? ask() : given
    },
    after: async (refused) => {
      // What is being asked for may be what was refused: it was begun before.
      const given = state.asking === undefined ? state.given : await state.asking
      if (given !== undefined && E.isRight(given) && given.right !== refused) return given
      if (given !== undefined && !isFile && !isLater(state.renewedAtMs, minRenewalMs)) return given
      state.renewedAtMs = clock.nowMs()
      if (isFromProgram(user)) state.asks = forgetful(state.asks)
      return ask()
    },
    problem: () => state.problem,
  }
}

const nothingGiven = (asks: KubeConfig, nowMs: number): State => ({
  asks,
  given: undefined,
  askedAtMs: 0,
  renewedAtMs: nowMs,
  problem: undefined,
  asking: undefined,
})

/**
 * What is used from now on: good ones are not given up for none, and equal ones stay the same
 * object.
 */
const newer = (before: Given | undefined, now: Given): Given => {
  if (before === undefined || E.isLeft(before)) return now
  return E.isRight(now) && !isEqual(before.right, now.right) ? now : before
}

const isEqual = (a: Credentials, b: Credentials): boolean =>
  a.tlsKey === b.tlsKey && JSON.stringify(a.headers) === JSON.stringify(b.headers)

/** Programs have no end of their own. */
const inTime = (
  clock: Clock,
  asked: Promise<E.Either<string, Asked>>,
): Promise<E.Either<string, Asked>> =>
  new Promise((resolve, reject) => {
    const cancel = clock.after(maxAskMs, () =>
      resolve(E.left(`the credentials did not come within ${maxAskMs} ms`)),
    )
    void asked.then(resolve, reject).finally(cancel)
  })

const credentialsOf = ({ options, what }: Asked): Credentials => {
  const { headers = {}, auth } = options
  const basic = { Authorization: `Basic ${Buffer.from(auth ?? '').toString('base64')}` }
  const tls = tlsOf(options)
  return {
    headers: { ...(typeof auth === 'string' && basic), ...asRecord(headers) },
    tls,
    tlsKey: JSON.stringify(tls),
    what,
  }
}

/**
 * The library gives an agent, too, which is not used: it makes one for each call, or never a new
 * one.
 */
const tlsOf = ({
  ca,
  cert,
  key,
  pfx,
  passphrase,
  servername,
  rejectUnauthorized,
}: RequestOptions): AgentOptions => ({
  ...(ca !== undefined && { ca }),
  ...(cert !== undefined && { cert }),
  ...(key !== undefined && { key }),
  ...(pfx !== undefined && { pfx }),
  ...(passphrase !== undefined && { passphrase }),
  ...(servername !== undefined && { servername }),
  ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
})

/** Raw headers, as Node takes them too, are no form that the library uses. */
const asRecord = (headers: RequestOptions['headers']): OutgoingHttpHeaders =>
  headers === undefined || Array.isArray(headers) ? {} : (headers as OutgoingHttpHeaders)
