import * as E from 'fp-ts/lib/Either.js'
import { expect, test } from 'vitest'
import { applyPatch, type PatchOperation } from '../../src/adapters/memory/api-server/json-patch.js'

const add = (path: string, value: unknown): PatchOperation => ({ op: 'add', path, value })
const replace = (path: string, value: unknown): PatchOperation => ({ op: 'replace', path, value })
const equals = (path: string, value: unknown): PatchOperation => ({ op: 'test', path, value })
const remove = (path: string): PatchOperation => ({ op: 'remove', path })

test.each<readonly [string, unknown, PatchOperation, unknown]>([
  ['add puts a field', { a: 1 }, add('/b', 2), { a: 1, b: 2 }],
  ['add replaces a field', { a: 1 }, add('/a', 2), { a: 2 }],
  ['add inserts before an item', ['a', 'c'], add('/1', 'b'), ['a', 'b', 'c']],
  ['add appends behind the last item, by its index', ['a'], add('/1', 'b'), ['a', 'b']],
  ['add appends by a dash', ['a'], add('/-', 'b'), ['a', 'b']],
  ['add replaces the document', { a: 1 }, add('', []), []],
  ['replace changes an item', { a: [1, { b: 2 }] }, replace('/a/1/b', 3), { a: [1, { b: 3 }] }],
  ['replace changes the document', 1, replace('', 2), 2],
  ['remove takes a field out', { a: 1, b: 2 }, remove('/a'), { b: 2 }],
  ['remove takes an item out', ['a', 'b', 'c'], remove('/1'), ['a', 'c']],
  [
    'test compares without the order of fields',
    { a: { b: 1, c: [2] } },
    equals('/a', { c: [2], b: 1 }),
    { a: { b: 1, c: [2] } },
  ],
  [
    'a field may have a slash and a tilde in its name',
    { 'a/b~1': 1 },
    replace('/a~1b~01', 2),
    { 'a/b~1': 2 },
  ],
  [
    'a field may be called by a number, or by nothing',
    { 0: { '': 1 } },
    replace('/0/', 2),
    { 0: { '': 2 } },
  ],
])('%s', (_, document, operation, result) => {
  const before = structuredClone(document)
  expect(applyPatch(document, [operation])).toEqual(E.right(result))
  expect(document).toEqual(before)
})

test.each<readonly [string, unknown, PatchOperation]>([
  ['a pointer without a slash', { a: 1 }, replace('a', 2)],
  ['replace of a missing field', {}, replace('/a', 1)],
  ['remove of a missing field', {}, remove('/a')],
  ['remove of the document', {}, remove('')],
  ['add below a missing field', {}, add('/a/b', 1)],
  ['add to a list that is not there', {}, add('/finalizers/-', 'f')],
  ['add beyond the end of a list', ['a'], add('/2', 'b')],
  ['replace behind the last item', ['a'], replace('/1', 'b')],
  ['replace by a dash', ['a'], replace('/-', 'b')],
  ['remove by a dash', ['a'], remove('/-')],
  ['an index with a leading zero', ['a', 'b'], remove('/01')],
  ['an index that is none', ['a'], remove('/length')],
  ['a field that every object inherits', {}, equals('/constructor', Object)],
  ['a step into a string', { a: 'b' }, equals('/a/0', 'b')],
  ['test of another value', { a: 1 }, equals('/a', '1')],
  ['test of a longer list', { a: [1] }, equals('/a', [1, 2])],
  ['test of a missing field', {}, equals('/a', null)],
])('%s fails', (_, document, operation) => {
  expect(E.isLeft(applyPatch(document, [operation]))).toBe(true)
})

test('operations see what those before them did, and none counts if one fails', () => {
  const document = { a: [1] }
  expect(applyPatch(document, [add('/a/-', 2), equals('/a', [1, 2]), remove('/a/0')])).toEqual(
    E.right({ a: [2] }),
  )
  expect(applyPatch(document, [add('/b', 2), equals('/b', 3)])).toEqual(E.left('test /b: differs'))
})
