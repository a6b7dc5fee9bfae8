import fc from 'fast-check'
import type { Context, DataPlane } from '../../src/core/context.js'
import { type TableForm, wholeForm } from '../../src/core/table-form.js'

/** Few shards, so that hosts meet in them. */
export const tableForms: fc.Arbitrary<TableForm> = fc.constantFrom(
  wholeForm,
  { _tag: 'Sharded', shards: 1 },
  { _tag: 'Sharded', shards: 3 },
  { _tag: 'Sharded', shards: 5 },
)

/** The data planes, with leave to be in shards or without. */
export const mayBeSharded = (
  dataPlanes: Context['dataPlanes'],
): fc.Arbitrary<Context['dataPlanes']> =>
  fc
    .array(fc.constantFrom<Pick<DataPlane, 'shards'>>({}, { shards: 0 }, { shards: 3 }), {
      minLength: dataPlanes.size,
      maxLength: dataPlanes.size,
    })
    .map(
      (all) => new Map([...dataPlanes].map(([name, plane], i) => [name, { ...plane, ...all[i] }])),
    )

/** The data planes in these forms, or in those that they have. */
export const inForms = (
  dataPlanes: Context['dataPlanes'],
  forms: ReadonlyMap<string, TableForm>,
): Context['dataPlanes'] =>
  new Map(
    [...dataPlanes].map(([name, plane]) => {
      const form = forms.get(name)
      return [name, form === undefined ? plane : { ...plane, form }]
    }),
  )
