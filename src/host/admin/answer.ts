import { showKey, type RouteKey } from '../../core/edge-route.js'
import type { Logger } from '../../ports/logger.js'
import { connectedRefusal, unknownRefusal } from '../forget-words.js'
import type { BreakGlassResult, ForgetResult, Operator } from '../operator.js'
import {
  brokenDocument,
  errorDocument,
  type ErrorReason,
  forgottenDocument,
  isTerminating,
  nodesDocument,
  routesDocument,
} from './document.js'
import type { Target } from './target.js'
import type { Turns } from './turns.js'

/** An answer before it is written. */
export interface Answer {
  readonly status: number
  readonly document: object
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answering {
  readonly operator: Operator
  readonly logger: Logger
  readonly nowMs: () => number
  readonly turns: Turns
  /** How long the operator may take for what it does, in milliseconds. */
  readonly operatorTimeoutMs: number
}

/** Asks the operator, or tells it. Rejects only where the operator itself does. */
export const answer = (
  target: Target,
  fields: Readonly<Record<string, unknown>>,
  at: Answering,
): Promise<Answer> => {
  switch (target._tag) {
    case 'Routes':
      return at.turns(() => explain(target.key, at))
    case 'Nodes':
      return at.turns(() => ok(nodesDocument(at.operator.nodes(), at.nowMs())))
    case 'Forget':
      return forget(target.id, at)
    case 'BreakGlass':
      return breakGlass(target.key, fields['uids'], at)
  }
}

export const ok = (document: object): Answer => ({ status: 200, document })

export const refused = (status: number, reason: ErrorReason, message: string): Answer => ({
  status,
  document: errorDocument(reason, message),
})

const explain = (key: RouteKey, { operator, nowMs }: Answering): Answer => {
  const explanations = operator.explain(key)
  return explanations.length === 0 ? noRoute(key) : ok(routesDocument(explanations, nowMs()))
}

const noRoute = (key: RouteKey): Answer =>
  refused(404, 'NotFound', `no object has the name ${showKey(key)}`)

const forget = async (id: string, at: Answering): Promise<Answer> => {
  const heldUp = await at.turns(() =>
    at.operator.nodes().flatMap((node) => (node.id === id ? node.holdsUp : [])),
  )
  const result = await inTime(at.operator.forget(id), at)
  at.logger.log('info', 'asked to forget a node', { node: id, outcome: outcomeOf(result) })
  return result === undefined ? timedOut : forgetAnswer(id, heldUp, result)
}

const outcomeOf = (result: ForgetResult | undefined): string => {
  if (typeof result !== 'object') return result ?? tooLong
  return 'failure' in result ? result.failure : `Forgotten: ${result.warning}`
}

const forgetAnswer = (id: string, heldUp: ReadonlyArray<string>, result: ForgetResult): Answer => {
  const routes = [...new Set(heldUp)]
  switch (result) {
    case 'Forgotten':
      return ok(forgottenDocument(id, routes))
    case 'Connected':
      return refused(409, 'Connected', connectedRefusal)
    case 'Unknown':
      return refused(404, 'NotFound', unknownRefusal)
    default:
      return 'failure' in result
        ? refused(502, 'Failed', result.failure)
        : ok(forgottenDocument(id, routes, result.warning))
  }
}

/**
 * `uids` are those of the objects that somebody was shown before agreeing: where another one has come
 * under the name meanwhile, it is not touched.
 */
const breakGlass = async (key: RouteKey, uids: unknown, at: Answering): Promise<Answer> => {
  if (uids !== undefined && !isStrings(uids))
    return refused(400, 'BadRequest', 'uids must be a list of strings')
  const isAgreed = await at.turns(
    () =>
      uids === undefined ||
      at.operator
        .explain(key)
        .every(({ uid, state }) => !isTerminating(state._tag) || uids.includes(uid)),
  )
  if (!isAgreed)
    return refused(409, 'Changed', `${showKey(key)} is another object now: look at it again`)
  const result = await inTime(at.operator.breakGlass(key), at)
  at.logger.log('warn', 'asked to break the glass', {
    route: showKey(key),
    outcome: result?._tag ?? tooLong,
  })
  return result === undefined ? timedOut : breakGlassAnswer(key, result)
}

const isStrings = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((each) => typeof each === 'string')

const breakGlassAnswer = (key: RouteKey, result: BreakGlassResult): Answer => {
  switch (result._tag) {
    case 'Broken':
      return ok(brokenDocument(result))
    case 'NotTerminating':
      return refused(
        409,
        'NotTerminating',
        `${showKey(key)} is not being deleted, or not held by us`,
      )
    case 'Unknown':
      return noRoute(key)
    case 'Failed':
      return refused(502, 'Failed', result.message)
  }
}

const tooLong = 'it takes too long'
const timedOut = refused(
  504,
  'TimedOut',
  `${tooLong}: nobody knows whether it will be done. Look again in a while`,
)

/** `undefined` if it takes too long; what comes of it later is nobody's business any more. */
const inTime = <A>(promise: Promise<A>, { operatorTimeoutMs }: Answering): Promise<A | undefined> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), operatorTimeoutMs)
    timer.unref()
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
