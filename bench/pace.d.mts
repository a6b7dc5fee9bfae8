export interface Pace<Change, Sample> {
  readonly changes: (nextChange: (i: number) => Change) => ReadonlyArray<Change>
  readonly note: (sample: Sample) => Sample
}

export declare const startPace: <Change, Sample>(
  costOf: (sample: Sample) => number,
  warmUpMs: number,
) => Pace<Change, Sample>
