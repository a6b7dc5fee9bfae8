import { ownConditionsIn } from '../../../core/own-conditions.js'
import type { StoredObject } from '../../../core/stored-object.js'
import { isList, type JsonObject, objectIn, textIn } from '../reflector/index.js'

/** The bookkeeping of an object, out of its JSON. */
export const storedOf = (object: JsonObject): StoredObject => {
  const metadata = objectIn(object, 'metadata')
  const { generation } = metadata
  const deletionTimestamp = textIn(metadata, 'deletionTimestamp')
  const { conditions } = objectIn(object, 'status')
  const dataPlane = textIn(objectIn(object, 'spec'), 'dataPlane')
  return {
    key: { namespace: textIn(metadata, 'namespace') ?? '', name: textIn(metadata, 'name') ?? '' },
    uid: textIn(metadata, 'uid') ?? '',
    generation: typeof generation === 'number' ? generation : 0,
    ...(dataPlane !== undefined && { dataPlane }),
    resourceVersion: textIn(metadata, 'resourceVersion') ?? '',
    finalizers: textsIn(metadata.finalizers),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...ownConditionsIn(isList(conditions) ? conditions : []),
  }
}

const textsIn = (value: unknown): ReadonlyArray<string> =>
  isList(value) ? value.filter((item) => typeof item === 'string') : []
