import * as E from 'fp-ts/lib/Either.js'
import { decodeEdgeRoute } from '../../../src/core/codec.js'
import { unsaid } from '../../../src/core/crd.js'
import type { FieldError } from '../../../src/core/field-error.js'

/** What the codec refuses in a spec, where unknown fields are dropped, as an API server does. */
export const refusalsOf = (spec: unknown): ReadonlyArray<FieldError> => {
  const decoded = decodeEdgeRoute(
    {
      apiVersion: 'net.10xdev.io/v1',
      kind: 'EdgeRoute',
      metadata: { namespace: 'shop', name: 'r', uid: 'u', generation: 1 },
      spec,
    },
    { unknownFields: 'warn' },
  )
  return E.isLeft(decoded) ? decoded.left : []
}

/** Whether no schema can say any of it. */
export const isUnsaid = (refusals: ReadonlyArray<FieldError>): boolean =>
  refusals.every((error) => unsaid.some(({ covers }) => covers(error)))
