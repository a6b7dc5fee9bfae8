import * as PM from '../../src/core/persistent-map.js'
import type { Resource } from '../../src/core/resource.js'
import { subscribeFirst } from '../../src/core/xds/subscription.js'
import { type InFlight, openWatch, type Watch } from '../../src/core/xds/watch.js'

/** A watch of everything, to which nothing was sent. */
export const aWatch = (fields: Partial<Watch> = {}): Watch => ({
  ...openWatch(subscribeFirst([], true), new Map()),
  ...fields,
})

/** A response that has no answer; its target is what it brings. */
export const anInFlight = (
  nonce: string,
  resources: ReadonlyArray<Resource>,
  fields: Partial<InFlight> = {},
): InFlight => ({
  nonce,
  version: nonce,
  resources,
  removed: [],
  isWhole: false,
  target: PM.fromEntries(resources),
  sentAt: 0,
  trial: undefined,
  isProbe: false,
  isStalled: false,
  ...fields,
})
