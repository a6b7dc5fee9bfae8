import { expect, test } from 'vitest'
import { encoded } from '../../src/core/encoded.js'
import { Route } from '../../src/gen/envoy/config/route/v3/route_components.js'

const bytesOf = (name: string): Uint8Array => Route.encode({ name }).finish()

test('messages that are encoded one after the other have their own bytes', () => {
  const names = ['a', 'b'.repeat(5_000), '', 'c']
  const all = names.map((name) => encoded(Route, { name }))
  expect(all).toEqual(names.map(bytesOf))
})

test('a message that cannot be encoded leaves nothing behind in the next one', () => {
  const broken = {
    name: 'half',
    get action(): never {
      throw new Error('cannot be read')
    },
  }
  expect(() => encoded(Route, broken)).toThrow('cannot be read')
  expect(encoded(Route, { name: 'next' })).toEqual(bytesOf('next'))
})
