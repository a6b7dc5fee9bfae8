import * as E from 'fp-ts/lib/Either.js'
import type { ApiClient } from '../api.js'
import { ask } from '../objects/answer.js'
import type { ApiProblem } from '../objects/api-problem.js'
import { leasesIn } from '../objects/places.js'
import { isObject, objectIn, textIn } from '../reflector/index.js'
import { itemsOn } from '../reply.js'
import { requestDeadlineMs } from './limits.js'
import { managedBy } from './record.js'

/** The namespaces in which a control plane has, or had, a Lease. There are as many as control planes: one page. */
export const namespacesOfLeases = async (
  client: ApiClient,
  signal: AbortSignal,
): Promise<E.Either<ApiProblem, ReadonlyArray<string>>> => {
  const labelSelector = Object.entries(managedBy)
    .map(([label, value]) => `${label}=${value}`)
    .join(',')
  const of = { path: leasesIn(undefined), query: { labelSelector } }
  const request = { method: 'GET', ...of, deadlineMs: requestDeadlineMs } as const
  const answer = await ask(client, request, 'list Leases', signal)
  if (answer._tag !== 'Done') return E.left(answer.problem)
  const items = itemsOn({ body: answer.object })
  if (items === undefined)
    return E.left({ _tag: 'Failed', message: 'cannot list Leases: the API server sends no list' })
  const namespaces = items.flatMap((item) =>
    isObject(item) ? (textIn(objectIn(item, 'metadata'), 'namespace') ?? []) : [],
  )
  return E.right([...new Set(namespaces)])
}
