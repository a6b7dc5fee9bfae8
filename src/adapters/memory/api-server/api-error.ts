import * as E from 'fp-ts/lib/Either.js'
import { type RouteKey, showKey } from '../../../core/edge-route.js'

/** Why a request failed: what Kubernetes says in a `Status`. */
export interface ApiError {
  /** The HTTP status. */
  readonly code: number
  /** One word in CamelCase, for programs. */
  readonly reason: string
  readonly message: string
}

/** The history does not go back that far: list again. */
export const expiredCode = 410

const error =
  (code: number, reason: string) =>
  (message: string): ApiError => ({ code, reason, message })

export const badRequest: (message: string) => ApiError = error(400, 'BadRequest')
export const conflict: (message: string) => ApiError = error(409, 'Conflict')
export const expired: (message: string) => ApiError = error(expiredCode, 'Expired')
export const invalid: (message: string) => ApiError = error(422, 'Invalid')
export const internalError: (message: string) => ApiError = error(500, 'InternalError')
export const timeout: (message: string) => ApiError = error(504, 'Timeout')

export const notFound = (key: RouteKey): ApiError =>
  error(404, 'NotFound')(`${showKey(key)} not found`)

export const alreadyExists = (key: RouteKey, isTerminating: boolean): ApiError => {
  const state = isTerminating ? 'object is being deleted: ' : ''
  return error(409, 'AlreadyExists')(`${state}${showKey(key)} already exists`)
}

export const refuse = (error: ApiError): E.Either<ApiError, never> => E.left(error)
