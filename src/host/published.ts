import { chooseForms, type FormChoices, nextFormTimer } from '../core/form-choice.js'
import { type InService, nextInService } from '../core/in-service.js'
import { changedKeys, type OrderedMap } from '../core/ordered-map.js'
import type { Translation } from '../core/translate.js'
import type { WorldChange } from '../core/translator.js'
import { type ListChange, listChange, noChange } from '../core/translator/list-change.js'
import type { SourceBackends, SourceState } from '../ports/route-source.js'
import type { PublishedWorld } from './keep-audit.js'
import type { Reconciled, ReconcilePorts } from './reconcile.js'

/**
 * What is published of a state. Most changes in a store are of conditions, ours among them: where neither a route nor
 * its backends have changed nothing is translated. Costs a comparison for each of them, by reference.
 */
export const withTranslation = (
  { proof, context, translator }: ReconcilePorts,
  before: Reconciled,
  seen: SourceState,
): { readonly translated: Translation; readonly inService: InService } => {
  const inService =
    proof === undefined ? before.inService : nextInService(before.inService, before.deletions, seen)
  const routes =
    proof === undefined
      ? listChange(before.seen?.routes ?? [], seen.routes)
      : listChangeOf(before.inService.routes, inService.routes)
  const known = before.published === undefined ? noBackends : (before.seen?.backends ?? context)
  const now = seen.backends ?? context
  const services = listChange(known.services, now.services)
  const endpointSlices = listChange(known.endpointSlices, now.endpointSlices)
  const change = { routes, services, endpointSlices }
  const translated =
    before.published !== undefined && isEmpty(change) ? before.published : translator.update(change)
  return { translated, inService }
}

/** What is to be published, once it is decided which form its tables have: as a rule, what was translated. */
export const inForms = (
  { context, translator, clock, formLimits }: ReconcilePorts,
  before: FormChoices,
  translated: Translation,
): { readonly published: Translation; readonly choices: FormChoices } => {
  const { dataPlanes } = context
  const choices = chooseForms(before, dataPlanes, translated.hosts, clock.nowMs(), formLimits)
  const published =
    choices.forms === before.forms
      ? translated
      : translator.update({ ...nothingElse, forms: choices.forms })
  return { published, choices }
}

const nothingElse = { routes: noChange, services: noChange, endpointSlices: noChange }

export const publish = (
  ports: ReconcilePorts,
  before: Reconciled,
  { snapshot }: Translation,
): void => {
  if (snapshot !== before.published?.snapshot) ports.publish(snapshot)
}

const noBackends: SourceBackends = { services: [], endpointSlices: [] }

const listChangeOf = <A>(before: OrderedMap<A>, after: OrderedMap<A>): ListChange<A> => {
  const keys = changedKeys(before, after)
  return {
    removed: keys.flatMap((key) => before.get(key) ?? []),
    added: keys.flatMap((key) => after.get(key) ?? []),
  }
}

const isEmpty = ({ routes, services, endpointSlices }: WorldChange): boolean =>
  [routes, services, endpointSlices].every(
    ({ removed, added }) => removed.length + added.length === 0,
  )

/** What is published, and the world that it is the translation of; `undefined` before there is any. */
export const publishedWorld = (
  { proof, context }: Pick<ReconcilePorts, 'proof' | 'context'>,
  { published, inService, seen, choices }: Reconciled,
): PublishedWorld | undefined => {
  if (published === undefined || seen === undefined) return undefined
  const routes = proof === undefined ? seen.routes : [...inService.routes.values()]
  const { services, endpointSlices } = seen.backends ?? context
  const world = { routes, services, endpointSlices }
  return { world, translation: published, forms: choices.forms }
}

/** A switch to another form of tables that was to wait takes place when it is time. */
export const withDueForms = (ports: ReconcilePorts, state: Reconciled): Reconciled => {
  const { published, choices } = state
  const dueAt = nextFormTimer(choices)
  if (published === undefined || dueAt === undefined || dueAt > ports.clock.nowMs()) return state
  const formed = inForms(ports, choices, published)
  publish(ports, state, formed.published)
  return { ...state, ...formed }
}
