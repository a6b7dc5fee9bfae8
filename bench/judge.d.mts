export interface Goal {
  readonly text: string
  readonly holds: (value: number) => boolean
}

export interface Row {
  readonly name: string
  readonly goal: string
  readonly value: number
  readonly holds: boolean
}

export declare const atMost: (limit: number, of: string) => Goal
export declare const atLeast: (limit: number, of: string) => Goal
export declare const judge: (
  row: { readonly name: string; readonly goal: Goal },
  measured: { readonly value: number; readonly detail: string },
) => Row & { readonly detail: string }
export declare const plain: (row: Row) => Row
