import type { Either } from 'fp-ts/lib/Either.js'
import type { ReadonlyNonEmptyArray } from 'fp-ts/lib/ReadonlyNonEmptyArray.js'
import type { EdgeRoute, EdgeRouteSpec } from './edge-route.js'
import type { FieldError } from './field-error.js'
import type { Rule } from './rule.js'

export type Errors = ReadonlyNonEmptyArray<FieldError>

export interface DecodeOptions {
  /** What to do with fields that EdgeRoute does not have: refuse the object, or warn and go on. */
  readonly unknownFields: 'refuse' | 'warn'
}

export interface Decoded {
  readonly route: EdgeRoute
  /** Fields that were ignored. */
  readonly warnings: ReadonlyArray<FieldError>
}

export declare const decodeEdgeRoute: (
  value: unknown,
  options?: DecodeOptions,
) => Either<Errors, Decoded>
export declare const checkSpec: (spec: EdgeRouteSpec) => ReadonlyArray<FieldError>
export declare const compileRoute: (route: EdgeRoute) => Either<Errors, Rule>
