import * as E from 'fp-ts/lib/Either.js'
import type { StoredObject } from '../../../core/stored-object.js'
import type { Clock } from '../../../ports/clock.js'
import type { RouteStore } from '../../../ports/route-store.js'
import type { ApiClient } from '../api.js'
import { isObject } from '../informers/index.js'
import { storedOf } from '../informers/stored.js'
import { isDone } from '../reply.js'
import { requestDeadlineMs } from './limits.js'
import { patiently, type Tried } from './patience.js'
import { readOf } from './requests.js'

interface ReleasePorts {
  readonly client: ApiClient
  readonly clock: Clock
  readonly store: RouteStore
  readonly signal: AbortSignal
}

/**
 * Takes our finalizer off an object, as it is by then; on the left is why that could not be done. One that is gone, or
 * has given its name to another one, has it no more.
 */
export const release = (
  ports: ReleasePorts,
  object: StoredObject,
): Promise<E.Either<string, void>> => {
  let present = object
  return patiently(ports.clock, ports.signal, async (): Promise<Tried<void>> => {
    const released = await ports.store.release(present)()
    if (E.isRight(released)) return done
    const { _tag, message } = released.left
    switch (_tag) {
      case 'NotFound':
        return done
      case 'Refused':
      case 'Unproven':
        return { _tag: 'Done', value: E.left(message) }
      case 'Conflict':
      case 'Unavailable': {
        present = (await lookAt(ports, object)) ?? present
        return { _tag: 'Again', message, pauseMs: 0 }
      }
    }
  })
}

const done: Tried<void> = { _tag: 'Done', value: E.right(undefined) }

/**
 * The object as it is now; `undefined` if that cannot be told, or if it is another one, as the next write will
 * find.
 */
const lookAt = async (
  { client, signal }: ReleasePorts,
  object: StoredObject,
): Promise<StoredObject | undefined> => {
  const request = { ...readOf(object), deadlineMs: requestDeadlineMs }
  const reply = await client.send(request, signal)()
  if (E.isLeft(reply) || !isDone(reply.right) || !isObject(reply.right.body)) return undefined
  const found = storedOf(reply.right.body)
  return found.uid === object.uid ? found : undefined
}
