import type { ClusterEvent } from './cluster-event.js'

/** Events that wait to be told, and one who takes them and can be woken. */
export interface EventLine {
  /** False if there is no room for it, or if another one had to go for it. */
  readonly put: (event: ClusterEvent) => boolean
  /** A warning if there is one; of those of a type the one that came first. */
  readonly take: () => ClusterEvent | undefined
  readonly size: () => number
  /** Resolves when one has come, or when woken. */
  readonly woken: () => Promise<void>
  readonly wake: () => void
}

/**
 * A line for `maxWaiting` events. Warnings pass by the others, and where the line is full one takes the place of the
 * last that is none: that a deletion was not proven must be told, whatever a fleet brings at that moment.
 */
export const eventLine = (maxWaiting: number): EventLine => {
  const warnings: Array<ClusterEvent> = []
  const others: Array<ClusterEvent> = []
  let wake: () => void = () => undefined
  const size = (): number => warnings.length + others.length
  return {
    put: (event) => {
      const isFull = size() >= maxWaiting
      const isWarning = event.type === 'Warning'
      if (isFull && (!isWarning || others.pop() === undefined)) return false
      const line = isWarning ? warnings : others
      line.push(event)
      wake()
      return !isFull
    },
    take: () => warnings.shift() ?? others.shift(),
    size,
    woken: () =>
      new Promise((resolve) => {
        wake = resolve
      }),
    wake: () => wake(),
  }
}
