import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EdgeRoute } from '../../src/core/edge-route.js'
import { reuse } from '../../src/core/snapshot.js'
import { snapshotOf } from '../../src/core/translate.js'
import { endpointType, routeType, typeUrls } from '../../src/core/type-url.js'
import type { Variant } from '../../src/core/xds/messages.js'
import { edgeRoutes, shuffled } from '../support/arbitraries.js'
import { openStream, type Stream, variants } from '../support/xds.js'

const node = { id: 'envoy-1', cluster: 'edge-envoy' }

/** Subscribes to everything of all types, and accepts all that comes, until nothing comes any more. */
const connect = (variant: Variant): { readonly stream: Stream; readonly settle: () => void } => {
  const stream = openStream(variant)
  const say = (typeUrl: string, responseNonce: string, versionInfo: string): void => {
    const said = { node, typeUrl, responseNonce, errorDetail: undefined }
    stream.receive(
      variant === 'sotw'
        ? { _tag: 'Sotw', ...said, versionInfo, resourceNames: [] }
        : {
            _tag: 'Delta',
            ...said,
            subscribe: [],
            unsubscribe: [],
            initialResourceVersions: new Map(),
          },
    )
  }
  for (const typeUrl of typeUrls) say(typeUrl, '', '')
  let answered = 0
  const settle = (): void => {
    for (; answered < stream.responses().length; answered++) {
      const response = stream.responses()[answered]
      if (answered > 100 || response === undefined) throw new Error('this does not come to rest')
      say(response.typeUrl, response.nonce, response.version)
    }
  }
  return { stream, settle }
}

test.each(variants)('an unchanged world sends no message at all (%s)', (variant) => {
  const worlds = edgeRoutes.chain((routes) => fc.tuple(fc.constant(routes), shuffled(routes)))
  const isSilent = fc.property(worlds, ([routes, reordered]) => {
    const { stream, settle } = connect(variant)
    const snapshot = snapshotOf(routes)
    stream.publish(snapshot)
    settle()
    const sent = stream.responses().length
    expect(sent).toBeGreaterThanOrEqual(typeUrls.length)
    const again = snapshotOf(structuredClone<ReadonlyArray<EdgeRoute>>(reordered))
    expect(stream.publish(again)).toEqual([])
    expect(stream.publish(reuse(snapshot, again))).toEqual([])
    settle()
    expect(stream.responses()).toHaveLength(sent)
  })
  fc.assert(isSilent, { numRuns: 1_000 })
})

test('a change of weights is one response, of the table alone', () => {
  const weighted = (weight: number): EdgeRoute => ({
    metadata: { namespace: 'a', name: 'r', uid: 'r', generation: 1, finalizers: [] },
    spec: {
      backends: [
        { service: { name: 'one', port: 80 }, weight },
        { service: { name: 'two', port: 80 }, weight: 1 },
      ],
    },
  })
  for (const variant of variants) {
    const { stream, settle } = connect(variant)
    stream.publish(snapshotOf([weighted(1)]))
    settle()
    const before = stream.responses().length
    stream.publish(snapshotOf([weighted(2)]))
    settle()
    const since = stream.responses().slice(before)
    expect(since.map(({ typeUrl }) => typeUrl)).toEqual([routeType])
    expect(since.some(({ typeUrl }) => typeUrl === endpointType)).toBe(false)
  }
})
