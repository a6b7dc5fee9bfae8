export interface Panel {
  readonly title: string
  readonly lines: ReadonlyArray<{
    readonly name: string
    readonly points: ReadonlyArray<readonly [count: number, ms: number]>
  }>
}

export declare const plot: (panels: ReadonlyArray<Panel>) => string
