import { fc, test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import { encodeTree, writeTree } from '../../src/core/encode-tree.js'
import { changedHost } from '../../src/core/host-form.js'
import { listOf, type PathRoute, type Tree, treeOf } from '../../src/core/matcher-tree.js'
import { edited } from '../../src/core/order.js'
import {
  encodeContent,
  type Fragment,
  type Resource,
  tableResource,
  type TableHost,
} from '../../src/core/resource.js'
import { tableHostOf } from '../../src/core/translate/route-tables.js'
import { flattened } from '../support/flattened.js'
import { answeringItself, fragmentsOf, matches } from '../support/tree-worlds.js'

const runs = { numRuns: 1000 }

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

const bySortKey = ({ sortKey }: Fragment): string => sortKey

/** All fragments that a history may put in or take out: two forms of each claim. */
const pool = fc
  .uniqueArray(matches, { minLength: 4, maxLength: 24, selector: (match) => JSON.stringify(match) })
  .map((all) =>
    ['a', 'b'].map((form) =>
      fragmentsOf(all.map((match, index) => answeringItself(`r${index}-${form}`, [match]))),
    ),
  )

/** What happens to the host in one go: fragments by their number, which come in one form or the other, or go. */
const steps = fc.array(
  fc.array(fc.tuple(fc.nat(), fc.constantFrom(0, 1, undefined)), { minLength: 1, maxLength: 6 }),
  { minLength: 1, maxLength: 12 },
)

/** The hosts' fragments along a history. */
const historyOf = (
  forms: ReadonlyArray<ReadonlyArray<Fragment>>,
  changes: ReadonlyArray<ReadonlyArray<readonly [number, number | undefined]>>,
): ReadonlyArray<ReadonlyArray<Fragment>> => {
  let now: ReadonlyArray<Fragment> = []
  return changes.map((step) => {
    for (const [number, form] of step) {
      const all = forms.map((own) => own[number % own.length])
      const edits = new Map<string, Fragment | undefined>()
      for (const each of all) if (each !== undefined) edits.set(each.sortKey, undefined)
      const chosen = form === undefined ? undefined : all[form]
      if (chosen !== undefined) edits.set(chosen.sortKey, chosen)
      now = edited(now, bySortKey, edits)
    }
    return now
  })
}

const asLists = ({ branches }: Tree): ReadonlyArray<readonly [string, ReadonlyArray<PathRoute>]> =>
  branches.map((branch) => [branch.place.key, listOf(branch)])

describe('a tree that is changed', () => {
  test.prop([pool, steps], runs)(
    'has the lists, sizes and bytes of one that is made anew, after any history',
    (forms, changes) => {
      let tree: Tree | undefined
      let written: { readonly tree: Tree; readonly bytes: Uint8Array } | undefined
      for (const routes of historyOf(forms, changes)) {
        tree = treeOf(routes, tree)
        if (tree === undefined) throw new Error('no path is a regular expression')
        const anew = treeOf(routes)
        expect(tree).toEqual(anew)
        expect(asLists(tree)).toEqual([...flattened(routes)])
        const whole = encodeTree(tree)
        const out = new Uint8Array(whole.length + 2)
        expect(writeTree(out, 1, tree, written)).toBe(whole.length + 1)
        expect(hex(out)).toBe(`00${hex(whole)}00`)
        written = { tree, bytes: out.subarray(1, -1) }
      }
    },
  )
})

/** So many other prefixes that a host with them is sent as a tree, and its version in chunks. */
const others = fragmentsOf(
  Array.from({ length: 150 }, (_, i) =>
    answeringItself(`other-${i}`, [{ path: { prefix: `/a/other-${i}` } }]),
  ),
)

const tableOf = (host: TableHost): Resource =>
  tableResource('t', { head: new Uint8Array(), virtualHosts: [host] })

describe('a host that is changed', () => {
  test.prop([pool, steps, fc.constantFrom(0, 60, 120, 150), fc.boolean()], { numRuns: 300 })(
    'has the version and the bytes of one that is made anew, after any history',
    (forms, changes, count, isEncodedBetween) => {
      const along = historyOf(forms, changes).map((fragments) =>
        edited(others.slice(0, count), bySortKey, new Map(fragments.map((f) => [f.sortKey, f]))),
      )
      let host = tableHostOf('one.test', [])
      for (const fragments of along) {
        host = changedHost(host, fragments)
        const table = tableOf(host)
        const anew = tableOf(
          tableHostOf(
            'one.test',
            fragments.map((each) => ({ ...each })),
          ),
        )
        expect(table.version).toBe(anew.version)
        if (isEncodedBetween || fragments === along.at(-1))
          expect(hex(encodeContent(table.content))).toBe(hex(encodeContent(anew.content)))
      }
    },
  )
})
