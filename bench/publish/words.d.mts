import type { Row } from '../judge.mjs'

export interface Run {
  readonly date: string
  readonly machine: string
  readonly rows: ReadonlyArray<Row>
}

export declare const resultsInWords: (run: Run, folder: string) => string
export declare const showValue: (value: number) => string
export declare const withResults: (page: string, words: string) => string
