import { expect, test } from 'vitest'
import { edgeRouteDefinition } from '../../src/core/crd.js'
import { conditionTypes } from '../../src/core/status.js'

const columns = edgeRouteDefinition().spec.versions.flatMap(
  ({ additionalPrinterColumns }) => additionalPrinterColumns,
)

test('kubectl get shows at once whether a backend leads nowhere, and that a route is Terminating', () => {
  const atOnce = columns.filter(({ priority = 0 }) => priority === 0)
  expect(atOnce.map(({ name }) => name)).toEqual([
    ...['Hostnames', 'Paths', 'Accepted', 'Resolved', 'Programmed', 'Age', 'Deleting'],
  ])
  expect(atOnce.at(-1)).toMatchObject({ type: 'date', jsonPath: '.metadata.deletionTimestamp' })
})

test('kubectl get has a column for each condition: what is said of one that is being deleted with -o wide', () => {
  const shown = conditionTypes.map((type) => {
    const jsonPath = `.status.conditions[?(@.type=="${type}")].status`
    const column = columns.find((each) => each.jsonPath === jsonPath)
    return [column?.name, column?.priority ?? 0]
  })
  expect(shown).toEqual([
    ['Accepted', 0],
    ['Resolved', 0],
    ['Programmed', 0],
    ['Deprogrammed', 1],
  ])
})
