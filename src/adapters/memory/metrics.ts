import { compareStrings } from '../../core/order.js'
import type { Labels, Metrics } from '../../ports/metrics.js'

/** Metrics that keep their figures. */
export interface MemoryMetrics extends Metrics {
  /** The figure of exactly these labels; `undefined` where it was never touched. */
  readonly value: (name: string, labels?: Labels) => number | undefined
  /** All figures by `name{label="value",…}`, labels and lines sorted. */
  readonly values: () => ReadonlyMap<string, number>
}

/** Keeps one figure per name and labels. */
export const memoryMetrics = (): MemoryMetrics => {
  const figures = new Map<string, number>()
  return {
    add: (name, labels, amount) => {
      const key = keyOf(name, labels)
      figures.set(key, (figures.get(key) ?? 0) + amount)
    },
    set: (name, labels, value) => {
      figures.set(keyOf(name, labels), value)
    },
    value: (name, labels = {}) => figures.get(keyOf(name, labels)),
    values: () => new Map([...figures].sort(([a], [b]) => compareStrings(a, b))),
  }
}

const keyOf = (name: string, labels: Labels): string => {
  const pairs = Object.entries(labels)
    .sort(([a], [b]) => compareStrings(a, b))
    .map(([label, value]) => `${label}=${JSON.stringify(value)}`)
  return pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`
}
