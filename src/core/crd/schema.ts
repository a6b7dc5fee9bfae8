/**
 * A node of a structural schema: `JSONSchemaProps` of apiextensions.k8s.io/v1, as far as EdgeRoute
 * needs it.
 */
export interface Schema {
  readonly description?: string
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'boolean'
  readonly format?: 'int64' | 'date-time'
  readonly default?: unknown
  readonly enum?: ReadonlyArray<string | number | boolean>
  /** In Unicode code points. */
  readonly minLength?: number
  readonly maxLength?: number
  /** RE2 syntax; found anywhere in the value. */
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: ReadonlyArray<string>
  readonly 'x-kubernetes-int-or-string'?: true
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  readonly 'x-kubernetes-list-map-keys'?: ReadonlyArray<string>
  readonly 'x-kubernetes-validations'?: ReadonlyArray<Rule>
}

/** What must hold of a value, in CEL, where `self` is the value and `oldSelf` what it was before an update. */
export interface Rule {
  readonly rule: string
  /** Ends a sentence that begins with the path of the value. */
  readonly message: string
}

/** A rule with its message. */
export const rule = (expression: string, message: string): Rule => ({ rule: expression, message })

/** In CEL: whether a regex is found in `value`. */
export const matches = (pattern: string, value = 'self'): string =>
  `${value}.matches(${JSON.stringify(pattern)})`

/** In CEL: how many of these fields are there, asked with one of its macros, such as `exists_one`. */
export const present = (macro: 'exists' | 'exists_one', fields: ReadonlyArray<string>): string =>
  `[${fields.map((field) => `has(self.${field})`).join(', ')}].${macro}(there, there)`

/** The same schema with rules behind those that it has. */
export const withRules = (schema: Schema, ...rules: ReadonlyArray<Rule>): Schema => ({
  ...schema,
  'x-kubernetes-validations': [...(schema['x-kubernetes-validations'] ?? []), ...rules],
})

/** An object with these fields; those that `required` names must be there. */
export const object = (
  description: string,
  properties: Readonly<Record<string, Schema>>,
  required: ReadonlyArray<string> = [],
): Schema => ({
  description,
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
})

/** A string of at most `maxLength` code points. Without a bound, the cost of its rules would have none. */
export const text = (
  description: string,
  maxLength: number,
  more: Pick<Schema, 'minLength' | 'pattern' | 'default'> = {},
): Schema => ({ description, type: 'string', maxLength, ...more })

/** One of a few strings. */
export const choice = (description: string, values: ReadonlyArray<string>): Schema => ({
  description,
  type: 'string',
  enum: values,
})

/** A whole number within bounds. */
export const whole = (description: string, minimum: number, maximum: number): Schema => ({
  description,
  type: 'integer',
  minimum,
  maximum,
})

/**
 * How two who apply parts of one list are reconciled: one of them has it all, each has the items that it
 * names, or each has the items under the keys that it names. Only the last two keep the items distinct.
 */
type ListKind = 'atomic' | 'set' | { readonly key: string }

/** A list of at most `maxItems`. */
export const list = (
  description: string,
  items: Schema,
  minItems: 0 | 1,
  maxItems: number,
  kind: ListKind,
): Schema => ({
  description,
  type: 'array',
  ...(minItems > 0 && { minItems }),
  maxItems,
  items,
  ...(typeof kind === 'string'
    ? { 'x-kubernetes-list-type': kind }
    : { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [kind.key] }),
})
