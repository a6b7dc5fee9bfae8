import * as E from 'fp-ts/lib/Either.js'
import { hasField, isJsonObject, isList, isSameJson, type JsonObject } from './json.js'

/** One step of a JSON Patch (RFC 6902); `move` and `copy` are left out, since nobody here needs them. */
export type PatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }

export type JsonPatch = ReadonlyArray<PatchOperation>

/**
 * Applies the operations in their order: all of them, or, on the left, why one of them fails. Changes
 * nothing in place; what is untouched is shared with the document.
 */
export const applyPatch = (document: unknown, patch: JsonPatch): E.Either<string, unknown> => {
  let patched: E.Either<string, unknown> = E.right(document)
  for (const operation of patch) {
    if (E.isLeft(patched)) return patched
    patched = at(patched.right, pointer(operation.path), operation)
  }
  return patched
}

/** The steps of a JSON Pointer (RFC 6901); `undefined` if it is none. */
const pointer = (path: string): ReadonlyArray<string> | undefined => {
  if (path === '') return []
  if (!path.startsWith('/')) return undefined
  return path
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

const at = (
  target: unknown,
  steps: ReadonlyArray<string> | undefined,
  operation: PatchOperation,
): E.Either<string, unknown> => {
  const [step, ...rest] = steps ?? []
  if (steps === undefined) return fail(operation, 'is no JSON Pointer')
  if (step === undefined) return whole(target, operation)
  if (isList(target)) return inList(target, step, rest, operation)
  if (isJsonObject(target)) return inObject(target, step, rest, operation)
  return fail(operation, 'does not exist')
}

const whole = (target: unknown, operation: PatchOperation): E.Either<string, unknown> => {
  switch (operation.op) {
    case 'add':
    case 'replace':
      return E.right(operation.value)
    case 'test':
      return isSameJson(target, operation.value) ? E.right(target) : fail(operation, 'differs')
    case 'remove':
      return fail(operation, 'is the whole document')
  }
}

const inObject = (
  target: JsonObject,
  key: string,
  rest: ReadonlyArray<string>,
  operation: PatchOperation,
): E.Either<string, unknown> => {
  const there = hasField(target, key)
  if (rest.length === 0 && operation.op === 'add')
    return E.right({ ...target, [key]: operation.value })
  if (!there) return fail(operation, 'does not exist')
  if (rest.length === 0 && operation.op === 'remove')
    return E.right(Object.fromEntries(Object.entries(target).filter(([name]) => name !== key)))
  return E.map((value) => ({ ...target, [key]: value }))(at(target[key], rest, operation))
}

/** As a list is indexed: without leading zeros. */
const indexPattern = /^(0|[1-9]\d*)$/

const inList = (
  target: ReadonlyArray<unknown>,
  step: string,
  rest: ReadonlyArray<string>,
  operation: PatchOperation,
): E.Either<string, unknown> => {
  const adds = rest.length === 0 && operation.op === 'add'
  const index = adds && step === '-' ? target.length : indexPattern.test(step) ? Number(step) : -1
  if (index < 0 || index > target.length || (index === target.length && !adds))
    return fail(operation, 'does not exist')
  if (adds) return E.right([...target.slice(0, index), operation.value, ...target.slice(index)])
  if (rest.length === 0 && operation.op === 'remove')
    return E.right(target.filter((_, i) => i !== index))
  return E.map((value) => target.map((item, i) => (i === index ? value : item)))(
    at(target[index], rest, operation),
  )
}

const fail = ({ op, path }: PatchOperation, what: string): E.Either<string, never> =>
  E.left(`${op} ${path}: ${what}`)
