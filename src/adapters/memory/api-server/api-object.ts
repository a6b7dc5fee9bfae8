import * as E from 'fp-ts/lib/Either.js'
import { apiVersion, kind, type RouteKey } from '../../../core/edge-route.js'
import { isJsonObject, isList, sentJson } from './json.js'

/** An EdgeRoute as the server keeps it: frozen, and never changed. */
export interface ApiObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
  /** Any JSON: whether it is a route is not the server's affair. */
  readonly spec?: unknown
  readonly status?: unknown
}

export interface ObjectMeta extends RouteKey {
  readonly uid: string
  readonly resourceVersion: string
  readonly generation: number
  readonly creationTimestamp: string
  readonly deletionTimestamp?: string
  /** 0 where there is a deletion timestamp: nothing but finalizers holds the object. */
  readonly deletionGracePeriodSeconds?: number
  /** Absent, never empty; so are labels and annotations. */
  readonly finalizers?: ReadonlyArray<string>
  readonly labels?: Strings
  readonly annotations?: Strings
}

export type Strings = Readonly<Record<string, string>>

/** An object as a client sends it. What the server decides itself is ignored, or must be what it is. */
export interface ObjectInput {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: MetaInput
  readonly spec?: unknown
  readonly status?: unknown
}

export interface MetaInput extends RouteKey {
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly finalizers?: ReadonlyArray<string>
  readonly labels?: Strings
  readonly annotations?: Strings
}

/** Reads what a client sends, or what is left of an object after a patch. Empty metadata counts as absent. */
export const readInput = (value: unknown): E.Either<string, ObjectInput> => {
  const sent = sentJson(value)
  if (!isJsonObject(sent)) return E.left('must be an object')
  const { metadata, spec, status } = sent
  if ((sent.apiVersion ?? apiVersion) !== apiVersion || (sent.kind ?? kind) !== kind)
    return E.left(`must be of kind ${kind} in ${apiVersion}`)
  return E.map((meta: MetaInput) => ({
    metadata: meta,
    ...(isThere(spec) && { spec }),
    ...(isThere(status) && { status }),
  }))(readMeta(metadata))
}

const readMeta = (meta: unknown): E.Either<string, MetaInput> => {
  if (!isJsonObject(meta)) return E.left('metadata: must be an object')
  const { namespace, name, uid, resourceVersion, deletionTimestamp } = meta
  const { finalizers, labels, annotations } = meta
  if (!isFilledText(namespace) || !isFilledText(name))
    return E.left('metadata: must have a namespace and a name')
  const texts = [uid, resourceVersion, deletionTimestamp]
  if (texts.some((text) => isThere(text) && typeof text !== 'string'))
    return E.left('metadata: uid, resourceVersion and deletionTimestamp must be strings')
  if (isThere(finalizers) && !isTexts(finalizers))
    return E.left('metadata.finalizers: must be a list of strings')
  if ([labels, annotations].some((strings) => isThere(strings) && !isStrings(strings)))
    return E.left('metadata: labels and annotations must be strings by their names')
  return E.right({
    namespace,
    name,
    ...(isFilledText(uid) && { uid }),
    ...(isFilledText(resourceVersion) && { resourceVersion }),
    ...(isFilledText(deletionTimestamp) && { deletionTimestamp }),
    ...(isTexts(finalizers) && finalizers.length > 0 && { finalizers }),
    ...(isStrings(labels) && Object.keys(labels).length > 0 && { labels }),
    ...(isStrings(annotations) && Object.keys(annotations).length > 0 && { annotations }),
  })
}

const isThere = (value: unknown): boolean => value !== undefined && value !== null

const isFilledText = (value: unknown): value is string => typeof value === 'string' && value !== ''

const isTexts = (value: unknown): value is ReadonlyArray<string> =>
  isList(value) && value.every((item) => typeof item === 'string')

const isStrings = (value: unknown): value is Strings =>
  isJsonObject(value) && Object.values(value).every((item) => typeof item === 'string')
