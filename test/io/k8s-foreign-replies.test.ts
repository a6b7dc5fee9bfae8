import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import { inspectPods, inspectRoute } from '../../src/adapters/k8s/inspect/index.js'
import { findLeases, readLease } from '../../src/adapters/k8s/lease.js'
import { kubernetesRosterStore } from '../../src/adapters/k8s/roster-store.js'
import { objectServer } from '../support/k8s-object-server.js'

const signal = new AbortController().signal
const namespace = 'edge'

/** What a proxy may say in the place of an API server. */
const replies = [
  [200, {}],
  [200, { items: [] }],
  [404, '<html>no such page</html>'],
  [404, undefined],
] as const

describe.each(replies)('a reply %i with %j', (status, body) => {
  const { client } = objectServer()
  const proxied = {
    ...client,
    send: () => () => Promise.resolve(E.right({ status, body, retryAfterMs: undefined })),
  }

  test('does not say that nobody holds the Lease', async () => {
    expect(E.isLeft(await readLease(proxied, { namespace }, signal)())).toBe(true)
  })

  test('does not say that there is no roster', async () => {
    const store = kubernetesRosterStore(proxied, { namespace })
    expect(await store.load()()).toMatchObject({ left: { _tag: 'Unavailable' } })
  })

  test('does not say that there are no Leases', async () => {
    expect(E.isLeft(await findLeases(proxied, signal)())).toBe(true)
  })

  test('does not say that there is no such route, and no Pod', async () => {
    const key = { namespace: 'shop', name: 'a' }
    expect(E.isLeft(await inspectRoute(proxied, key, signal))).toBe(true)
    expect(E.isLeft(await inspectPods(proxied, namespace, signal))).toBe(true)
  })

  test('is said to be none of an API server', async () => {
    const read = await readLease(proxied, { namespace }, signal)()
    expect(E.isLeft(read) && read.left.message).toMatch(
      /cannot read the Lease edge\/edgewright: .* was sent in place of what was asked for/,
    )
  })
})
