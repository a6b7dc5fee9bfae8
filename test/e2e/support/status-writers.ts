import fc from 'fast-check'
import { expect } from 'vitest'
import { type Condition, conditionTypes } from '../../../src/core/status.js'
import { aCondition, type Said } from '../../contract/route-store.js'
import type { ClusterAccess } from '../cluster/cluster.js'

/** A write of a status: by our store, or by somebody else. */
export type StatusMove =
  | { readonly by: 'us'; readonly conditions: ReadonlyArray<Condition> }
  | {
      readonly by: (typeof ways)[number]
      readonly conditions: ReadonlyArray<Partial<Said> & Pick<Said, 'type'>>
    }

/** How somebody else writes: what they are the owner of afterwards differs. */
const ways = ['a JSON patch', 'a merge patch', 'a replacement', 'an application'] as const

const saidOf = <Type extends string>(
  types: ReadonlyArray<Type>,
): fc.Arbitrary<ReadonlyArray<Omit<Condition, 'type'> & { readonly type: Type }>> =>
  fc.subarray([...types]).chain((some) =>
    fc.tuple(
      ...some.map((type) =>
        fc
          .record({
            status: fc.constantFrom('True' as const, 'False' as const),
            reason: fc.constantFrom('Well', 'Ill'),
          })
          .map((more) => aCondition(type, more)),
      ),
    ),
  )

const theirs = saidOf([...conditionTypes, 'Known', 'Seen'])

/** Some fields of conditions, which may be there already: somebody then owns just these. */
const parts = fc
  .tuple(saidOf(conditionTypes), fc.boolean())
  .map(([conditions, hasReason]) =>
    conditions.map(({ type, status, reason }) => ({ type, status, ...(hasReason && { reason }) })),
  )

export const statusMoves: fc.Arbitrary<ReadonlyArray<StatusMove>> = fc.array(
  fc.oneof(
    fc.record({ by: fc.constant('us' as const), conditions: saidOf(conditionTypes) }),
    fc.record({ by: fc.constantFrom(...ways), conditions: theirs }),
    fc.record({ by: fc.constant('an application' as const), conditions: parts }),
  ),
  { minLength: 3, maxLength: 12 },
)

/** The server refuses to apply the last of these: others own a part of the condition that is then no longer named. */
export const partlyTheirs: ReadonlyArray<StatusMove> = [
  { by: 'a JSON patch', conditions: [aCondition('Programmed'), aCondition('ResolvedRefs')] },
  { by: 'us', conditions: [aCondition('ResolvedRefs', { status: 'False' })] },
  { by: 'us', conditions: [aCondition('Accepted')] },
]

/** Writes the status of the object at `path`, under a name of its own. Parts of what is not there are not taken. */
export const writeAsOther = async (
  { request }: ClusterAccess,
  path: string,
  { by, conditions }: Exclude<StatusMove, { readonly by: 'us' }>,
): Promise<void> => {
  const status = { conditions }
  const ask = async (method: string, body: unknown, type: string, query = ''): Promise<void> => {
    const target = `${path}/status?fieldManager=${type}${query}`
    const asked = { method, path: target, body, contentType: `application/${type}` }
    expect([200, 422]).toContain((await request(asked)).status)
  }
  switch (by) {
    case 'a JSON patch':
      return ask('PATCH', [{ op: 'add', path: '/status', value: status }], 'json-patch+json')
    case 'a merge patch':
      return ask('PATCH', { status }, 'merge-patch+json')
    case 'a replacement': {
      const { body } = await request({ path })
      return ask('PUT', { ...(body as object), status }, 'json')
    }
    case 'an application': {
      const { apiVersion, kind } = (await request({ path })).body as Readonly<
        Record<string, unknown>
      >
      return ask('PATCH', { apiVersion, kind, status }, 'apply-patch+yaml', '&force=true')
    }
  }
}
