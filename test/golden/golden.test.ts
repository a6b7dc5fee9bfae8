import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { JsonValue } from '@bufbuild/protobuf'
import type { Context } from '../../src/core/context.js'
import { translate, type Translation } from '../../src/core/translate.js'
import {
  clusterType,
  endpointType,
  listenerType,
  routeType,
  scopeType,
  type TypeUrl,
} from '../../src/core/type-url.js'
import * as PM from '../../src/core/persistent-map.js'
import { encodeContent } from '../../src/core/resource.js'
import { toJson } from '../support/reflection.js'
import { readCase } from './read-case.js'

/**
 * Each folder is a case: `in.yaml` is what people write, beside it stands what Envoy gets for it, by
 * type, and what each route is told. `vitest -u` writes the outputs anew; read the difference.
 */
const folder = fileURLToPath(new URL('.', import.meta.url))

const cases = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

const outputs = {
  'listeners.json': listenerType,
  'routes.json': routeType,
  'clusters.json': clusterType,
  'endpoints.json': endpointType,
} as const

/** Scopes are there where there may be shards. */
const outputsOf = ({ dataPlanes }: Context): Readonly<Record<string, TypeUrl>> =>
  [...dataPlanes.values()].some(({ shards }) => shards !== undefined)
    ? { ...outputs, 'scopes.json': scopeType }
    : outputs

/** The resources of a type, of each data plane by its name. */
const resourcesJson = ({ snapshot }: Translation, typeUrl: TypeUrl): string =>
  pretty(
    [...snapshot.dataPlanes].map(([name, view]) => [
      name,
      [...PM.entries(view[typeUrl])].map(({ content }) => toJson(typeUrl, encodeContent(content))),
    ]),
  )

const pretty = (
  entries: ReadonlyArray<readonly [string, JsonValue | ReadonlyArray<JsonValue>]>,
): string => `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`

const verdictsJson = ({ verdicts }: Translation): string =>
  `${JSON.stringify([...verdicts.values()], undefined, 2)}\n`

describe.each(cases)('%s', (name) => {
  const path = (file: string): string => `${folder}${name}/${file}`
  const [routes, context] = readCase(readFileSync(path('in.yaml'), 'utf8'))
  const translation = translate(routes, context)

  test.each(Object.entries(outputsOf(context)))(
    '%s is as it was reviewed',
    async (file, typeUrl) => {
      await expect(resourcesJson(translation, typeUrl)).toMatchFileSnapshot(path(file))
    },
  )

  test('verdicts.json is as it was reviewed', async () => {
    await expect(verdictsJson(translation)).toMatchFileSnapshot(path('verdicts.json'))
  })

  test('no file stands in the folder that no case claims', () => {
    const known = ['in.yaml', ...Object.keys(outputsOf(context)), 'verdicts.json']
    expect(readdirSync(path('')).filter((file) => !known.includes(file))).toStrictEqual([])
  })
})

test('no file stands beside the cases', () => {
  const known = [...cases, 'deploy.test.ts', 'golden.test.ts', 'read-case.ts']
  expect(readdirSync(folder).filter((file) => !known.includes(file))).toStrictEqual([])
})
