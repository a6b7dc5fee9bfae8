import { create, type DescField, type DescMessage, ScalarType, toBinary } from '@bufbuild/protobuf'
import { reflect, type ReflectMessage } from '@bufbuild/protobuf/reflect'
import { AnySchema, DurationSchema } from '@bufbuild/protobuf/wkt'
import { fc } from '@fast-check/vitest'
import { descriptorOf } from './reflection.js'

/** How many messages may stand in each other, and how many fields of each are set. */
const maxDepth = 5
const minFields = 2
const maxFields = 4

/**
 * Random messages of a type, encoded by protobuf-es: any field of it, at any depth, with the
 * extremes of its type. Only `google.protobuf.Struct` is left out, which ts-proto turns into a
 * JavaScript object.
 */
export const encodedMessages = (typeName: string): fc.Arbitrary<Uint8Array> => {
  const desc = descriptorOf(typeName)
  return messages(desc, maxDepth).map(({ message }) => toBinary(desc, message))
}

const messages = (desc: DescMessage, depth: number): fc.Arbitrary<ReflectMessage> => {
  if (desc.typeName === 'google.protobuf.Any') return anys
  const fields = desc.fields.filter((field) => isPossible(field, depth))
  return fc
    .subarray(fields, {
      minLength: Math.min(minFields, fields.length),
      maxLength: Math.min(maxFields, fields.length),
    })
    .chain((chosen) => fc.tuple(...chosen.map((field) => assignments(field, depth))))
    .map((assign) => {
      const message = reflect(desc)
      for (const to of assign) to(message)
      return message
    })
}

/** An Any must hold what both sides know. */
const anys: fc.Arbitrary<ReflectMessage> = fc.nat(1_000_000).map((nanos) =>
  reflect(
    AnySchema,
    create(AnySchema, {
      typeUrl: `type.googleapis.com/${DurationSchema.typeName}`,
      value: toBinary(DurationSchema, create(DurationSchema, { nanos })),
    }),
  ),
)

const isPossible = (field: DescField, depth: number): boolean =>
  field.message === undefined ||
  (depth > 0 && !/^google\.protobuf\.(Struct|Value|ListValue)$/.test(field.message.typeName))

type Assign = (message: ReflectMessage) => void

const assignments = (field: DescField, depth: number): fc.Arbitrary<Assign> => {
  switch (field.fieldKind) {
    case 'scalar':
    case 'enum':
    case 'message':
      return values(field, depth).map((value) => (message) => message.set(field, value))
    case 'list':
      return fc
        .array(values(field, depth), { minLength: 1, maxLength: 2 })
        .map((items) => (message) => {
          for (const item of items) message.get(field).add(item)
        })
    case 'map':
      return fc
        .array(fc.tuple(scalars(field.mapKey), values(field, depth)), {
          minLength: 1,
          maxLength: 2,
        })
        .map((entries) => (message) => {
          for (const [key, value] of entries) message.get(field).set(key, value)
        })
  }
}

/** One value of the field; of its items, or of its map's values, where it has many. */
const values = (
  field: Pick<DescField, 'scalar' | 'enum' | 'message'>,
  depth: number,
): fc.Arbitrary<unknown> => {
  if (field.message !== undefined) return messages(field.message, depth - 1)
  if (field.enum !== undefined)
    return fc.constantFrom(...field.enum.values.map(({ number }) => number))
  return scalars(field.scalar ?? ScalarType.BOOL)
}

const scalars = (type: ScalarType): fc.Arbitrary<unknown> => {
  switch (type) {
    case ScalarType.BOOL:
      return fc.boolean()
    case ScalarType.STRING:
      return fc.string({ unit: 'grapheme', maxLength: 5 })
    case ScalarType.BYTES:
      return fc.uint8Array({ maxLength: 5 })
    case ScalarType.FLOAT:
      return fc.float({ noNaN: true }).map(plainZero)
    case ScalarType.DOUBLE:
      return fc.double({ noNaN: true }).map(plainZero)
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return fc.integer()
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return fc.integer({ min: 0, max: 0xffffffff })
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
  }
}

/**
 * ts-proto takes minus zero for the default, and leaves it out. Envoy has no field where it
 * matters.
 */
const plainZero = (value: number): number => (value === 0 ? 0 : value)
