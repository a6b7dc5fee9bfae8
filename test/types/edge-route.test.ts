import type * as t from 'io-ts'
import { expect, expectTypeOf, test } from 'vitest'
import { type Equals, exactly } from '../../src/core/codec/exactly.js'
import { anything, integer, text } from '../../src/core/codec/leaves.js'
import { list, record } from '../../src/core/codec/record.js'
import type { specCodec } from '../../src/core/codec/spec.js'
import type { EdgeRouteSpec } from '../../src/core/edge-route.js'

// That the un-annotated codec of each object is exactly the interface is checked where it is made, by
// `exactly`. Here is shown that `exactly` tells all the differences that an annotation would not.

const string = text(() => undefined)
const plain = record(
  'a test',
  { a: string },
  { b: list(integer(0, 1), { min: 0, max: 1, of: '' }) },
)

test('the codec of a spec has the type of a spec', () => {
  expectTypeOf<t.TypeOf<typeof specCodec>>().toEqualTypeOf<EdgeRouteSpec>()
})

test('a record has readonly fields, and optional ones that are never undefined', () => {
  expectTypeOf<t.TypeOf<typeof plain>>().toEqualTypeOf<{
    readonly a: string
    readonly b?: ReadonlyArray<number>
  }>()
})

test('types that differ in one way only are not equal', () => {
  interface Same {
    readonly a: string
    readonly b?: number
  }
  expectTypeOf<Equals<Same, { readonly a: string; readonly b?: number }>>().toEqualTypeOf<true>()
  expectTypeOf<Equals<Same, { readonly a: string }>>().toEqualTypeOf<false>()
  expectTypeOf<Equals<Same, { readonly a: string; readonly b: number }>>().toEqualTypeOf<false>()
  expectTypeOf<Equals<Same, { readonly a: string; b?: number }>>().toEqualTypeOf<false>()
  expectTypeOf<
    Equals<Same, { readonly a: string; readonly b?: number | undefined }>
  >().toEqualTypeOf<false>()
  expectTypeOf<Equals<Same, Same & { readonly c?: 1 }>>().toEqualTypeOf<false>()
})

test('a codec that differs from its interface in one optional field does not compile', () => {
  interface Right {
    readonly a: string
    readonly b?: ReadonlyArray<number>
  }
  interface Missing extends Right {
    readonly c?: string
  }
  interface Loose {
    readonly a: string
    readonly b?: ReadonlyArray<number> | undefined
  }
  expect(exactly<Right>()(plain)).toBe(plain)
  // @ts-expect-error: the codec lacks an optional field
  expect(exactly<Missing>()(plain)).toBe(plain)
  // @ts-expect-error: the field may be undefined in the interface alone
  expect(exactly<Loose>()(plain)).toBe(plain)
  const more = record('a test', { a: string }, { b: anything, c: string })
  // @ts-expect-error: the codec has a field more
  expect(exactly<Right>()(more)).toBe(more)
})
