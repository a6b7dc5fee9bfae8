import { memoize } from '../adapters/memory/envoy/memo.js'
import type { EncodedResources } from '../adapters/memory/envoy/routing/answer.js'
import * as PM from '../core/persistent-map.js'
import { encodeContent } from '../core/resource.js'
import type { View } from '../core/snapshot.js'
import { perType } from '../core/type-url.js'

/** What an Envoy would hold of a data plane: nothing but bytes. */
export const encodedView: (view: View) => EncodedResources = memoize((view: View) =>
  perType(
    (typeUrl) =>
      new Map(
        [...PM.entries(view[typeUrl])].map(({ name, content }) => [
          name,
          { bytes: encodeContent(content) },
        ]),
      ),
  ),
)
