import { readFileSync } from 'node:fs'
import {
  createFileRegistry,
  type DescField,
  type DescMessage,
  fromBinary,
  type JsonValue,
  type Message,
  toBinary,
  toJson as messageToJson,
} from '@bufbuild/protobuf'
import { isReflectMessage, reflect, type ReflectMessage } from '@bufbuild/protobuf/reflect'
import { type Any, anyUnpack, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'

/**
 * A second protobuf codec, of another maker than the one in `src/gen`: protobuf-es, which reads the
 * committed descriptor set at run time and shares no generated code with it.
 *
 * A type is named as in `envoy.config.listener.v3.Listener`, or by its type URL. Everything looks
 * through `google.protobuf.Any`, at any depth.
 */
const descriptors = new URL('../../proto/envoy-1.40.0.binpb', import.meta.url)

const registry = createFileRegistry(
  fromBinary(FileDescriptorSetSchema, new Uint8Array(readFileSync(descriptors))),
)

/**
 * The places of the bytes that the type does not know, as in `filter_chains[0].filters[1]#99`:
 * field number 99 of that message; and of each Any that holds a type which is not in the set.
 */
export const unknownFieldsOf = (typeName: string, bytes: Uint8Array): ReadonlyArray<string> => {
  const found: Array<string> = []
  visit(decode(typeName, bytes), '', (message, path) => {
    for (const { no } of message.getUnknown() ?? []) found.push(`${path}#${no}`)
    if (isAny(message.message) && message.message.typeUrl !== '' && !unpack(message.message))
      found.push(`${path}: ${message.message.typeUrl} is not in the descriptor set`)
  })
  return found
}

/** The message in the bytes of the other codec, what stands in each Any encoded anew too. */
export const reencode = (typeName: string, bytes: Uint8Array): Uint8Array => {
  const root = decode(typeName, bytes)
  reencodeAnys(root)
  return toBinary(root.desc, root.message)
}

/** The message as JSON, with Envoy's own field names (snake case), and each Any expanded. */
export const toJson = (typeName: string, bytes: Uint8Array): JsonValue => {
  const { desc, message } = decode(typeName, bytes)
  return messageToJson(desc, message, { registry, useProtoFieldName: true })
}

/** The type as protobuf-es knows it. */
export const descriptorOf = (typeName: string): DescMessage => {
  const desc = registry.getMessage(typeName.slice(typeName.lastIndexOf('/') + 1))
  if (desc === undefined) throw new Error(`${typeName} is not in the descriptor set`)
  return desc
}

const decode = (typeName: string, bytes: Uint8Array): ReflectMessage => {
  const desc = descriptorOf(typeName)
  return reflect(desc, fromBinary(desc, bytes))
}

const isAny = (message: Message): message is Any => message.$typeName === 'google.protobuf.Any'

const unpack = (any: Any): ReflectMessage | undefined => {
  const message = anyUnpack(any, registry)
  return message === undefined ? undefined : reflect(descriptorOf(message.$typeName), message)
}

/**
 * Calls back for a message and for all below it, into each Any. Descends as deep as the message.
 */
const visit = (
  message: ReflectMessage,
  path: string,
  onMessage: (message: ReflectMessage, path: string) => void,
): void => {
  onMessage(message, path)
  const inside = isAny(message.message) ? unpack(message.message) : undefined
  if (inside !== undefined) visit(inside, path, onMessage)
  for (const [step, child] of children(message))
    visit(child, path === '' ? step : `${path}.${step}`, onMessage)
}

/** From the leaves up, so that an Any within an Any is in the new bytes of the outer one. */
const reencodeAnys = (message: ReflectMessage): void => {
  for (const [, child] of children(message)) reencodeAnys(child)
  if (!isAny(message.message)) return
  const inside = unpack(message.message)
  if (inside === undefined) return
  reencodeAnys(inside)
  message.message.value = toBinary(inside.desc, inside.message)
}

/** The messages in the fields of a message, each with the name of its place. */
const children = (message: ReflectMessage): ReadonlyArray<readonly [string, ReflectMessage]> =>
  message.fields
    .filter((field) => message.isSet(field))
    .flatMap((field) => valuesOf(message, field))
    .flatMap(([step, value]) => (isReflectMessage(value) ? [[step, value] as const] : []))

const valuesOf = (
  message: ReflectMessage,
  field: DescField,
): ReadonlyArray<readonly [string, unknown]> => {
  switch (field.fieldKind) {
    case 'list':
      return [...message.get(field)].map((item, at) => [`${field.name}[${at}]`, item])
    case 'map':
      return [...message.get(field)].map(([key, item]) => [
        `${field.name}[${JSON.stringify(key)}]`,
        item,
      ])
    case 'message':
    case 'scalar':
    case 'enum':
      return [[field.name, message.get(field)]]
  }
}
