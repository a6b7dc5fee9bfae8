import { list, object, type Schema, text } from './schema.js'

/**
 * How many conditions a status may have. Ours are four; where others fill the rest, ours cannot be written, and nobody
 * is told what became of the route. No rule looks at them, so that a large bound costs nothing.
 */
export const maxConditions = 64

/** `metav1.Condition`, with its bounds. */
const condition: Schema = object(
  'One aspect of what became of the route.',
  {
    type: text('What it is about, such as Accepted or Programmed.', 316, { minLength: 1 }),
    status: {
      description: 'Whether it holds.',
      type: 'string',
      enum: ['True', 'False', 'Unknown'],
    },
    observedGeneration: {
      description: 'The metadata.generation that this speaks of.',
      type: 'integer',
      format: 'int64',
      minimum: 0,
    },
    lastTransitionTime: {
      description: 'When the status last flipped.',
      type: 'string',
      format: 'date-time',
    },
    reason: text('One word in CamelCase, for programs.', 1024, {
      minLength: 1,
      pattern: '^[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
    }),
    message: text('A sentence for people.', 32_768),
  },
  ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
)

/** The status of an EdgeRoute; who writes it is the control plane. */
export const statusSchema: Schema = object('What became of the route.', {
  conditions: list(
    'Accepted: valid, and no other route has what it claims. ResolvedRefs: all of its backends are there. ' +
      'Programmed: every Envoy has confirmed it. Deprogrammed: no Envoy serves it any more.',
    condition,
    0,
    maxConditions,
    { key: 'type' },
  ),
})
