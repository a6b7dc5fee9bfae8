import { expect, test } from 'vitest'
import { edgeRouteDefinition } from '../../src/core/crd.js'
import { conditionTypes } from '../../src/core/status.js'

test('kubectl get has a column for each condition: two at once, the others with -o wide', () => {
  const columns = edgeRouteDefinition().spec.versions.flatMap(
    ({ additionalPrinterColumns }) => additionalPrinterColumns,
  )
  const shown = conditionTypes.map((type) => {
    const jsonPath = `.status.conditions[?(@.type=="${type}")].status`
    const column = columns.find((each) => each.jsonPath === jsonPath)
    return [column?.name, column?.priority ?? 0]
  })
  expect(shown).toEqual([
    ['Accepted', 0],
    ['ResolvedRefs', 1],
    ['Programmed', 0],
    ['Deprogrammed', 1],
  ])
})
