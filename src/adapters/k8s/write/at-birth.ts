import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { finalizer } from '../../../core/stored-object.js'
import type { ApiClient } from '../api.js'
import { isObject, objectIn, textIn } from '../reflector/index.js'
import { itemsOn, saidBy } from '../reply.js'

/** There are as few as people have written: one page. */
const path = '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies'

/** How long the answer may take, in milliseconds. */
const deadlineMs = 30_000

/**
 * The names of the policies that make an API server put our finalizer on new routes, as that of `deploy/at-birth` does,
 * whatever they are called: those that name our finalizer. Left says, for people, why nobody knows.
 *
 * Needs the permission to list MutatingAdmissionPolicies. An API server that does not know the kind has none.
 */
export const findAtBirthPolicies =
  (client: ApiClient, signal: AbortSignal): TaskEither<string, ReadonlyArray<string>> =>
  async () => {
    const sent = await client.send({ method: 'GET', path, deadlineMs }, signal)()
    if (E.isLeft(sent)) return E.left(sent.left.message)
    const reply = sent.right
    if (reply.status === 404) return E.right([])
    const items = reply.status === 200 ? itemsOn(reply) : undefined
    return items === undefined
      ? E.left(`the API server answers ${reply.status}: ${saidBy(reply) ?? 'no list'}`)
      : E.right(items.filter(namesOurFinalizer).map(nameOf))
  }

const namesOurFinalizer = (item: unknown): boolean =>
  isObject(item) && JSON.stringify(item.spec ?? {}).includes(finalizer)

const nameOf = (item: unknown): string =>
  (isObject(item) ? textIn(objectIn(item, 'metadata'), 'name') : undefined) ?? ''
