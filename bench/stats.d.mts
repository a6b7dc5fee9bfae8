export declare const median: (values: ReadonlyArray<number>) => number
export declare const pick: <Key extends string, Value>(
  samples: ReadonlyArray<Readonly<Record<Key, Value>>>,
  key: Key,
) => ReadonlyArray<Value>
export declare const ratio: (values: ReadonlyArray<number>, others: ReadonlyArray<number>) => number
export declare const inTurn: <Subject, Sample>(
  subjects: ReadonlyArray<Subject>,
  runs: number,
  sample: (subject: Subject, run: number) => Promise<Sample> | Sample,
) => Promise<ReadonlyArray<ReadonlyArray<Sample>>>
