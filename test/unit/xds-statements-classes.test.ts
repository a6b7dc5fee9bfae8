import { describe, expect, test } from 'vitest'
import { classifyDelta, classifySotw, type RequestKind } from '../../src/core/xds/classify.js'
import type { DeltaRequest, SotwRequest } from '../../src/core/xds/messages.js'
import { subscribeFirst } from '../../src/core/xds/subscription.js'
import { type InFlight, openWatch, type Watch } from '../../src/core/xds/watch.js'
import { aNode, refusal, types, words } from '../support/xds.js'

const response = (nonce: string): InFlight => ({
  nonce,
  version: `v${nonce}`,
  resources: [],
  removed: [],
  isWhole: false,
  target: undefined,
  sentAt: 0,
  trial: undefined,
  isProbe: false,
  isStalled: false,
})

const unanswered: Watch = openWatch(subscribeFirst(['a', 'b'], true), new Map())
/** A client that asked for `a b`, and was sent response 7 of version v7. */
const waiting: Watch = { ...unanswered, nonce: '7', inFlight: [response('7')] }
const atRest: Watch = { ...waiting, inFlight: [] }
/** The same with two responses that have no answer. */
const behind: Watch = { ...waiting, nonce: '8', inFlight: [response('7'), response('8')] }

interface Said {
  readonly nonce: string
  readonly names?: string
  readonly version?: string
  readonly refuses?: boolean
}

type Row = readonly [
  title: string,
  watch: Watch | undefined,
  said: Said,
  kind: RequestKind,
  changesNames: boolean,
]

const sotw: ReadonlyArray<Row> = [
  ['a first request', undefined, { nonce: '' }, 'First', true],
  ['a first request with an old nonce', undefined, { nonce: '7', version: 'v7' }, 'First', true],
  ['an ACK', waiting, { nonce: '7', version: 'v7' }, 'Ack', false],
  [
    'an ACK, its names in another order',
    waiting,
    { nonce: '7', version: 'v7', names: 'b a b' },
    'Ack',
    false,
  ],
  ['a NACK', waiting, { nonce: '7', version: 'v6', refuses: true }, 'Nack', false],
  [
    'a NACK that names the version it refuses',
    waiting,
    { nonce: '7', version: 'v7', refuses: true },
    'Nack',
    false,
  ],
  ['an ACK and a change', waiting, { nonce: '7', version: 'v7', names: 'a c' }, 'Ack', true],
  [
    'a NACK and a change',
    waiting,
    { nonce: '7', version: 'v6', names: 'a', refuses: true },
    'Nack',
    true,
  ],
  ['a change', atRest, { nonce: '7', version: 'v7', names: 'a b c' }, 'Change', true],
  ['a change to no names', atRest, { nonce: '7', version: 'v7', names: '' }, 'Change', true],
  ['a change before any response', unanswered, { nonce: '', names: 'a' }, 'Change', true],
  ['a repetition', atRest, { nonce: '7', version: 'v7' }, 'Repeat', false],
  ['a new nonce with an old version', waiting, { nonce: '7', version: 'v6' }, 'NotApplied', false],
  ['a stale request', waiting, { nonce: '6', version: 'v7' }, 'Stale', false],
  ['a stale request with other names', waiting, { nonce: '', names: 'c' }, 'Stale', true],
  ['an unheard-of nonce with other names', atRest, { nonce: '', names: 'c' }, 'Stale', false],
  ['the answer to all that is out', behind, { nonce: '8', version: 'v8' }, 'Ack', false],
  ['the answer to an older response', behind, { nonce: '7', version: 'v7' }, 'Ack', false],
  ['a stale refusal', atRest, { nonce: '6', version: 'v6', refuses: true }, 'Stale', false],
]

const delta: ReadonlyArray<Row> = [
  ['a first request', undefined, { nonce: '', names: 'a' }, 'First', true],
  ['a first request with an old nonce', undefined, { nonce: '7', names: 'a' }, 'First', true],
  ['an ACK', waiting, { nonce: '7' }, 'Ack', false],
  ['a NACK', waiting, { nonce: '7', refuses: true }, 'Nack', false],
  ['an ACK and a change', waiting, { nonce: '7', names: 'c' }, 'Ack', true],
  ['a NACK and a change', waiting, { nonce: '7', names: 'c', refuses: true }, 'Nack', true],
  ['a change', atRest, { nonce: '', names: 'c' }, 'Change', true],
  ['a change while a response is out', waiting, { nonce: '', names: 'c' }, 'Change', true],
  ['a stale request', waiting, { nonce: '6' }, 'Stale', false],
  ['a stale request that changes names', waiting, { nonce: '6', names: 'c' }, 'Stale', true],
  ['an ACK of the newest response', behind, { nonce: '8' }, 'Ack', false],
  ['an ACK of an older response', behind, { nonce: '7' }, 'Ack', false],
  ['a NACK of an older response', behind, { nonce: '7', refuses: true }, 'Nack', false],
  ['an answer that is given twice', atRest, { nonce: '7' }, 'Stale', false],
]

const sotwRequest = ({
  nonce,
  names = 'a b',
  version = '',
  refuses = false,
}: Said): SotwRequest => ({
  _tag: 'Sotw',
  node: aNode,
  typeUrl: types.cds,
  resourceNames: words(names),
  versionInfo: version,
  responseNonce: nonce,
  errorDetail: refuses ? refusal : undefined,
})

const deltaRequest = ({ nonce, names = '', refuses = false }: Said): DeltaRequest => ({
  _tag: 'Delta',
  node: aNode,
  typeUrl: types.cds,
  subscribe: words(names),
  unsubscribe: [],
  initialResourceVersions: new Map(),
  responseNonce: nonce,
  errorDetail: refuses ? refusal : undefined,
})

describe('every request is of exactly one class', () => {
  test.each(sotw)('6. S: %s', (_title, watch, said, kind, changesNames) => {
    const classified = classifySotw(watch, sotwRequest(said))
    expect(classified.kind).toBe(kind)
    if (kind !== 'First') expect(classified.changesNames).toBe(changesNames)
  })

  test.each(delta)('6. D: %s', (_title, watch, said, kind, changesNames) => {
    const classified = classifyDelta(watch, deltaRequest(said))
    expect(classified.kind).toBe(kind)
    if (kind !== 'First') expect(classified.changesNames).toBe(changesNames)
  })
})
