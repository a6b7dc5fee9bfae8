import { expect } from 'vitest'
import { scopeType, showTypeUrl, type TypeUrl } from '../../../src/core/type-url.js'
import type { Variant } from '../../../src/core/xds/messages.js'
import {
  type EnvoyUnderTest,
  type Headers,
  type Item,
  type Sent,
  showRequest,
  type StartEnvoyUnderTest,
} from '../../support/scripted-envoy.js'
import { clusterType, endpointType, listenerType, routeType } from './resources.js'

/** What a file of scripts is given. */
export interface Subject {
  readonly variant: Variant
  /** Starts an Envoy of the variant, which is stopped when the test ends. */
  readonly start: (
    options?: Omit<Parameters<StartEnvoyUnderTest>[0], 'variant'>,
  ) => Promise<EnvoyUnderTest>
}

/** How long the absence of a request is watched, in milliseconds; one that comes takes about two. */
export const quietMs = 400

/** How long Envoy waits for a resource by default: `initial_fetch_timeout`, in milliseconds. */
export const fetchTimeoutMs = 15_000

/** How long something is tried until it is so, in milliseconds. */
const patienceMs = 3_000

/** Expects that the next request of its type accepts a response. */
export const accepts = async (envoy: EnvoyUnderTest, sent: Sent): Promise<void> => {
  const request = await envoy.nextRequest(sent.typeUrl)
  const { responseNonce, errorDetail } = request
  expect({ responseNonce, errorDetail }).toEqual({
    responseNonce: sent.nonce,
    errorDetail: undefined,
  })
  if (request._tag === 'Sotw') expect(request.versionInfo).toBe(sent.version)
  else expect([request.subscribe, request.unsubscribe]).toEqual([[], []])
}

/**
 * Expects that the next request of its type refuses a response, and with the state of the world
 * names the version that was accepted last. Returns the message.
 */
export const refuses = async (
  envoy: EnvoyUnderTest,
  sent: Sent,
  lastAccepted: string,
): Promise<string> => {
  const request = await envoy.nextRequest(sent.typeUrl)
  expect(request.responseNonce).toBe(sent.nonce)
  expect(request.errorDetail?.code).toBe(13)
  if (request._tag === 'Sotw') expect(request.versionInfo).toBe(lastAccepted)
  return request.errorDetail?.message ?? ''
}

/** Expects that the next request of its type reads so. */
export const asks = async (
  envoy: EnvoyUnderTest,
  typeUrl: TypeUrl,
  expected: Readonly<Record<Variant, string>>,
): Promise<void> => {
  const shown = `${showTypeUrl(typeUrl)} ${expected[envoy.variant]}`.trim()
  expect(showRequest(await envoy.nextRequest(typeUrl))).toBe(shown)
}

/** Sends a response, and expects that it is accepted. */
export const gives = async (
  envoy: EnvoyUnderTest,
  typeUrl: TypeUrl,
  version: string,
  resources: ReadonlyArray<Item>,
  removed: ReadonlyArray<string> = [],
): Promise<void> => accepts(envoy, envoy.send({ typeUrl, version, resources, removed }))

/** Expects that requests are answered so, soon. */
export const answers = async (
  envoy: EnvoyUnderTest,
  port: number,
  path: string,
  expected: string,
  headers: Headers = {},
): Promise<void> => {
  const end = Date.now() + patienceMs
  let seen = await envoy.request(port, path, headers)
  while (seen !== expected && Date.now() < end) {
    await envoy.wait(20)
    seen = await envoy.request(port, path, headers)
  }
  expect(seen).toBe(expected)
}

/** Expects that requests go on being answered so, although something was accepted. */
export const goesOn = async (
  envoy: EnvoyUnderTest,
  port: number,
  path: string,
  expected: string,
  headers: Headers = {},
): Promise<void> => {
  await envoy.wait(envoy.settleMs)
  expect(await envoy.request(port, path, headers)).toBe(expected)
}

/** What an Envoy is given at first; every response is in version 1. */
export interface World {
  readonly clusters?: ReadonlyArray<Item>
  readonly assignments?: ReadonlyArray<Item>
  readonly listeners?: ReadonlyArray<Item>
  readonly scopes?: ReadonlyArray<Item>
  readonly tables?: ReadonlyArray<Item>
}

/** Brings up an Envoy, which accepts all that it is given. */
export const bringUp = async (envoy: EnvoyUnderTest, world: World): Promise<void> => {
  const { clusters = [], assignments = [], listeners = [], scopes = [], tables = [] } = world
  await envoy.nextRequest(clusterType)
  await gives(envoy, clusterType, '1', clusters)
  if (assignments.length > 0) await answersWith(envoy, endpointType, assignments)
  await envoy.nextRequest(listenerType)
  await gives(envoy, listenerType, '1', listeners)
  if (scopes.length > 0) await answersWith(envoy, scopeType, scopes)
  if (tables.length > 0) await answersWith(envoy, routeType, tables)
}

/** Answers the next request of a type. */
const answersWith = async (
  envoy: EnvoyUnderTest,
  typeUrl: TypeUrl,
  resources: ReadonlyArray<Item>,
): Promise<void> => {
  await envoy.nextRequest(typeUrl)
  await gives(envoy, typeUrl, '1', resources)
}
