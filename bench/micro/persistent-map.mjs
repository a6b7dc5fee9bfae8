// One change to a map of resources: our persistent map against a copied native Map and immutable.js.
import { Map as ImmutableMap } from 'immutable'
import * as PM from '../../dist/core/persistent-map.js'
import { median, table } from './measure.mjs'

const entry = (i, version) => ({ name: `service/ns-${i % 97}/name-${i}/8080`, version })

/** Every approach: make, change one entry, and find what lies between the map before and after. */
const approaches = {
  'persistent map': {
    make: (items) => PM.fromEntries(items),
    change: (map, item) => PM.set(map, item),
    diff: (before, after) => PM.diff(before, after).length,
    version: (map) => PM.digestOf(map),
  },
  'native Map, copied': {
    make: (items) => new Map(items.map((item) => [item.name, item])),
    change: (map, item) => new Map(map).set(item.name, item),
    diff: (before, after) => {
      let found = 0
      for (const [name, item] of after) if (before.get(name) !== item) found += 1
      return found
    },
  },
  'immutable.js Map': {
    make: (items) => ImmutableMap(items.map((item) => [item.name, item])),
    change: (map, item) => map.set(item.name, item),
    diff: (before, after) => {
      let found = 0
      after.forEach((item, name) => {
        if (before.get(name) !== item) found += 1
      })
      return found
    },
  },
}

const rows = []
for (const n of [1_000, 10_000, 50_000]) {
  const items = Array.from({ length: n }, (_, i) => entry(i, 'a'.repeat(32)))
  for (const [name, { make, change, diff, version }] of Object.entries(approaches)) {
    const map = make(items)
    version?.(map)
    let i = 0
    const cost = (work) => median(15, work)
    rows.push({
      n,
      approach: name,
      'make ms': cost(() => make(items)),
      'change ms': cost(() => change(map, entry(++i % n, `b${i}`))),
      'change, diff and version ms': cost(() => {
        const next = change(map, entry(++i % n, `b${i}`))
        version?.(next)
        return diff(map, next)
      }),
    })
  }
}
table(rows)
