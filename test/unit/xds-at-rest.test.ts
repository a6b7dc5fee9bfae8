import { defaultDataPlane, snapshotOf } from 'edgewright'
import { expect, test } from 'vitest'
import { mayStillServe, ledgerOf } from '../../src/core/ledger.js'
import * as PM from '../../src/core/persistent-map.js'
import { viewOf } from '../../src/core/snapshot.js'
import { routeType } from '../../src/core/type-url.js'
import { type FleetState, openFleet, step } from '../../src/core/xds/fleet.js'
import type { DeltaRequest } from '../../src/core/xds/messages.js'
import { aRoute } from '../support/ledger-nodes.js'
import { sentBy, types } from '../support/xds.js'

const node = { id: 'envoy-1', cluster: defaultDataPlane }

test('a table that is at rest beside a refusal is proven like any other once a deletion waits', () => {
  const plain = snapshotOf([aRoute('a', 1), aRoute('c', 1)])
  let state: FleetState = openFleet()
  const feed = (event: Parameters<typeof step>[1], nowMs = 0) => {
    const [next, effects] = step(state, event, nowMs)
    state = next
    return sentBy(effects.map(({ effect }) => effect))
  }
  const ask = (typeUrl: string, fields: Partial<DeltaRequest>) =>
    feed({
      _tag: 'RequestReceived',
      stream: '1',
      request: {
        _tag: 'Delta',
        node: undefined,
        typeUrl,
        subscribe: [],
        unsubscribe: [],
        initialResourceVersions: new Map(),
        responseNonce: '',
        errorDetail: undefined,
        ...fields,
      },
    })
  feed({ _tag: 'SnapshotPublished', snapshot: plain })
  feed({ _tag: 'StreamOpened', stream: '1', variant: 'delta' })
  const [table] = [...PM.entries(viewOf(plain, defaultDataPlane)[routeType])]
  const { name = '', version = '' } = table ?? {}
  // It comes back with the table as it is published, and is taken at its word.
  expect(
    ask(types.rds, {
      node,
      subscribe: [name],
      initialResourceVersions: new Map([[name, version]]),
    }),
  ).toEqual([])
  // One route gets a form that it refuses; alone, so that nothing is unsure but what is convicted.
  const [bad] = feed({
    _tag: 'SnapshotPublished',
    snapshot: snapshotOf([aRoute('a', 2), aRoute('c', 1)]),
  })
  ask(types.rds, { responseNonce: bad?.nonce ?? '', errorDetail: { code: 13, message: 'no' } })
  // `b`, of another data plane or with no claim of its own, is deleted.
  let due = feed({ _tag: 'AcksDemanded', isOn: true })
  for (let round = 0; round < 10; round += 1)
    due = [
      ...due.flatMap(({ typeUrl, nonce }) => ask(typeUrl, { responseNonce: nonce })),
      ...feed({ _tag: 'TimePassed' }, (round + 1) * 1e6),
    ]
  expect(mayStillServe(ledgerOf(state), 'b').map(({ id }) => id)).toEqual([])
})
