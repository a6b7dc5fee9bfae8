// What a tree over paths spares a real Envoy, against the plain list of the same routes; decision 0015.
import { encodeTree } from '../../dist/core/encode-tree.js'
import { treeOf } from '../../dist/core/matcher-tree.js'
import { forms, startTwoForms } from '../envoy/two-forms.mjs'
import { median as medianOf, pick } from '../stats.mjs'
import { median, table } from './measure.mjs'

const counts = [16, 64, 128, 1_000, 10_000]
const shapes = ['prefix', 'prefix + method']
const rounds = 3
const roundMs = 500

const measure = async (envoy, fragments) => {
  // The one that takes everything else comes last of all.
  const paths = { first: fragments[0].path.value, last: fragments.at(-2).path.value }
  const found = new Map()
  for (let round = 0; round < rounds; round++)
    for (const form of forms)
      for (const which of ['first', 'last']) {
        const key = `${form} ${which}`
        found.set(key, [...(found.get(key) ?? []), await envoy.load(form, paths[which], roundMs)])
      }
  return (key, field) => medianOf(pick(found.get(key), field))
}

const envoy = await startTwoForms()
const rows = []
for (const [count, shape] of counts.flatMap((n) => shapes.map((shape) => [n, shape]))) {
  const { bytes, fragments } = await envoy.show(count, shape)
  const figure = await measure(envoy, fragments)
  rows.push({
    prefixes: count,
    shape,
    'list: first us': figure('list first', 'cpuUs'),
    'last us': figure('list last', 'cpuUs'),
    'last /s': Math.round(figure('list last', 'perSecond')),
    'tree: first us': figure('tree first', 'cpuUs'),
    'last us ': figure('tree last', 'cpuUs'),
    'last /s ': Math.round(figure('tree last', 'perSecond')),
    'times /s': figure('tree last', 'perSecond') / figure('list last', 'perSecond'),
    'list KB': bytes.list.length / 1_000,
    'tree KB': bytes.tree.length / 1_000,
    'made in ms': median(5, () => encodeTree(treeOf(fragments))),
  })
}
await envoy.stop()
table(rows)
