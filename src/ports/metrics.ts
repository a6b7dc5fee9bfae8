export type Labels = Readonly<Record<string, string>>

/** Where figures go. Names and labels are those of Prometheus. Must not throw. */
export interface Metrics {
  /** Adds to a counter. */
  readonly add: (name: string, labels: Labels, amount: number) => void
  /** Sets a gauge. */
  readonly set: (name: string, labels: Labels, value: number) => void
}

/** Keeps nothing. */
export const noMetrics: Metrics = { add: () => undefined, set: () => undefined }
