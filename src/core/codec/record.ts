import * as t from 'io-ts'
import { exactSize } from '../order.js'

/** What a codec knows of its own structure, so that a value can be walked beside it. */
export type Shape =
  | { readonly _tag: 'Leaf' }
  | { readonly _tag: 'List'; readonly item: Shape }
  | { readonly _tag: 'Record'; readonly fields: ReadonlyMap<string, Shape> }

/** An io-ts type that shows its structure. */
export interface Codec<A> extends t.Type<A> {
  readonly shape: Shape
}

/** Something wrong inside a value; `keys` lead to it from there. */
export interface Issue {
  readonly keys?: ReadonlyArray<string | number>
  readonly message: string
}

/** Judges which fields of a record are there, whatever is in them. */
export type PresenceRule = (isPresent: (field: string) => boolean) => ReadonlyArray<Issue>

/** A codec of any type. */
export type AnyCodec = t.Mixed & { readonly shape: Shape }

export type Props = Readonly<Record<string, AnyCodec>>

type Flat<A> = { readonly [K in keyof A]: A[K] }

/** The type of a record: exact optional fields, everything readonly. */
export type RecordOf<Required extends Props, Optional extends Props> = Flat<
  { readonly [K in keyof Required]: t.TypeOf<Required[K]> } & {
    readonly [K in keyof Optional]?: t.TypeOf<Optional[K]>
  }
>

/**
 * An object with the fields of `required` and `optional`.
 *
 * A field that is null counts as absent, as in Kubernetes, and an absent one is left out of the result.
 * Collects the errors of all fields; fields that it does not know are ignored here, `unknownFields`
 * finds them. The `rules` are asked even where a field is wrong.
 */
export const record = <Required extends Props, Optional extends Props>(
  name: string,
  required: Required,
  optional: Optional,
  rules: ReadonlyArray<PresenceRule> = [],
): Codec<RecordOf<Required, Optional>> => {
  type A = RecordOf<Required, Optional>
  const props = new Map<string, AnyCodec>([
    ...Object.entries(required),
    ...Object.entries(optional),
  ])
  const validate: t.Validate<unknown, A> = (value, context) => {
    if (!isObject(value)) return t.failure(value, context)
    const errors: Array<t.ValidationError> = []
    const result: Record<string, unknown> = {}
    for (const [field, codec] of props) {
      const actual = fieldOf(value, field)
      if (actual !== undefined) {
        const inner = codec.validate(actual, t.appendContext(context, field, codec, actual))
        if (inner._tag === 'Left') errors.push(...inner.left)
        else result[field] = inner.right
      } else if (Object.hasOwn(required, field)) {
        errors.push(...issueErrors(value, context, [{ keys: [field], message: 'is required' }]))
      }
    }
    const isPresent = (field: string): boolean => fieldOf(value, field) !== undefined
    for (const rule of rules) errors.push(...issueErrors(value, context, rule(isPresent)))
    // `result` has each required field, and each optional one that is there, decoded by its own codec.
    return errors.length > 0 ? t.failures(errors) : t.success(result as A)
  }
  const is = (value: unknown): value is A => validate(value, [])._tag === 'Right'
  const fields = new Map([...props].map(([field, { shape }]) => [field, shape]))
  return withShape({ _tag: 'Record', fields }, new t.Type<A>(name, is, validate, t.identity))
}

/** How many items a list may have: from one or none, to `max`, in words `of`. */
export interface ListSize {
  readonly min: 0 | 1
  readonly max: number
  /** What the items are, in the plural, as in `hostnames`. */
  readonly of: string
}

/** A list of one kind. Collects the errors of all items; of a list that is too long, nothing is read. */
export const list = <A>(item: Codec<A>, size: ListSize): Codec<ReadonlyArray<A>> => {
  const validate: t.Validate<unknown, ReadonlyArray<A>> = (value, context) => {
    if (!isList(value)) return t.failure(value, context)
    if (value.length < size.min)
      return t.failure(value, context, 'must not be empty: name one, or leave the field out')
    if (value.length > size.max)
      return t.failure(value, context, `has ${value.length} ${size.of}: at most ${size.max}`)
    const errors: Array<t.ValidationError> = []
    const result: Array<A> = []
    for (const [index, actual] of value.entries()) {
      const inner = item.validate(actual, t.appendContext(context, String(index), item, actual))
      if (inner._tag === 'Left') errors.push(...inner.left)
      else result.push(inner.right)
    }
    return errors.length > 0 ? t.failures(errors) : t.success(exactSize(result))
  }
  const is = (value: unknown): value is ReadonlyArray<A> => validate(value, [])._tag === 'Right'
  const type = new t.Type<ReadonlyArray<A>>('a list', is, validate, t.identity)
  return withShape({ _tag: 'List', item: item.shape }, type)
}

/** A value without parts; `name` says in words what is expected, `wrong` what to do about it. */
export const leaf = <A>(
  name: string,
  is: (value: unknown) => value is A,
  wrong: (value: unknown) => string | undefined = () => undefined,
): Codec<A> => {
  const validate: t.Validate<unknown, A> = (value, context) =>
    is(value) ? t.success(value) : t.failure(value, context, wrong(value))
  return withShape({ _tag: 'Leaf' }, new t.Type<A>(name, is, validate, t.identity))
}

/** The same codec, which also asks `check` of every value that has the right shape. */
export const where = <A>(codec: Codec<A>, check: (value: A) => ReadonlyArray<Issue>): Codec<A> => {
  const validate: t.Validate<unknown, A> = (value, context) => {
    const inner = codec.validate(value, context)
    if (inner._tag === 'Left') return inner
    const issues = check(inner.right)
    return issues.length > 0 ? t.failures(issueErrors(value, context, issues)) : inner
  }
  const is = (value: unknown): value is A => codec.is(value) && check(value).length === 0
  return withShape(codec.shape, new t.Type<A>(codec.name, is, validate, t.identity))
}

/** The own field of an object; undefined if it is absent or null. */
export const fieldOf = (value: object, field: string): unknown => {
  if (!Object.hasOwn(value, field)) return undefined
  return (value as Readonly<Record<string, unknown>>)[field] ?? undefined
}

export const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isList = (value: unknown): value is ReadonlyArray<unknown> => Array.isArray(value)

const withShape = <A>(shape: Shape, type: t.Type<A>): Codec<A> => Object.assign(type, { shape })

const issueErrors = (value: unknown, context: t.Context, issues: ReadonlyArray<Issue>): t.Errors =>
  issues.map(({ keys = [], message }) => {
    let at = context
    let actual = value
    for (const key of keys) {
      actual =
        typeof actual === 'object' && actual !== null ? fieldOf(actual, String(key)) : undefined
      at = t.appendContext(at, String(key), t.unknown, actual)
    }
    return { value: actual, context: at, message }
  })
