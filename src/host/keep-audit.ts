import { audit, type AuditDifference } from '../core/audit.js'
import type { Context } from '../core/context.js'
import type { TableForm } from '../core/table-form.js'
import { showTypeUrl } from '../core/type-url.js'
import type { Translation } from '../core/translate.js'
import type { World } from '../core/translator.js'
import { type Clock, pause } from '../ports/clock.js'
import type { Logger } from '../ports/logger.js'
import type { Metrics } from '../ports/metrics.js'

/**
 * How long after the last audit the next one begins, in milliseconds: often enough that what is wrong is so for
 * minutes, seldom enough that its work is a small part of one core.
 */
export const auditEveryMs = 600_000

/** How long others have their turn between two parts, in milliseconds: an audit takes a third of a core at most. */
const restMs = 10

/** How many differences are named in a log line; the rest is counted. */
const maxNamed = 8

export interface AuditPorts {
  readonly dataPlanes: Context['dataPlanes']
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  /** What is published, and the world that it is the translation of; `undefined` before there is any. */
  readonly published: () => PublishedWorld | undefined
  /** Translates everything anew, and publishes that. */
  readonly renew: () => void
}

export interface PublishedWorld {
  readonly world: World
  readonly translation: Translation
  /** The forms of its tables, by data plane. */
  readonly forms: ReadonlyMap<string, TableForm>
}

/**
 * Makes sure, from time to time, that what is published is what a translation of everything would give; where it is
 * not, says so and has everything translated anew. Resolves once `signal` has aborted.
 *
 * What is published is always made by changes. That this is right is a property that tests hold; this is for what
 * they have not thought of.
 */
export const keepAudit = async (ports: AuditPorts, signal: AbortSignal): Promise<void> => {
  const { clock, dataPlanes } = ports
  while (await lasts(clock, auditEveryMs, signal)) {
    const published = ports.published()
    if (published === undefined) continue
    const { world, translation, forms } = published
    const parts = audit(inForms(dataPlanes, forms), world, translation)
    let part = parts.next()
    while (part.done !== true && (await lasts(clock, restMs, signal))) part = parts.next()
    if (part.done === true) settle(ports, part.value)
  }
}

const inForms = (
  dataPlanes: Context['dataPlanes'],
  forms: PublishedWorld['forms'],
): Context['dataPlanes'] =>
  new Map(
    [...dataPlanes].map(([name, plane]) => {
      const form = forms.get(name)
      return [name, form === undefined ? plane : { ...plane, form }]
    }),
  )

/** Waits for so long; true if there is still something to do then. */
const lasts = async (clock: Clock, delayMs: number, signal: AbortSignal): Promise<boolean> => {
  await pause(clock, delayMs, signal)
  return !signal.aborted
}

const settle = (
  { logger, metrics, renew }: AuditPorts,
  found: ReadonlyArray<AuditDifference>,
): void => {
  metrics.add('edgewright_audits_total', { result: found.length === 0 ? 'same' : 'different' }, 1)
  if (found.length === 0) return
  const named = found.slice(0, maxNamed).map(show).join(', ')
  const others = found.length > maxNamed ? ` and ${found.length - maxNamed} more` : ''
  logger.log('error', 'what was published is not what the routes say: all of it is made anew', {
    differs: named + others,
  })
  renew()
}

const show = (difference: AuditDifference): string => {
  switch (difference._tag) {
    case 'Resource':
      return `${showTypeUrl(difference.typeUrl)} ${difference.name} of ${difference.dataPlane}`
    case 'Verdict':
      return `the verdict on ${difference.uid}`
  }
}
