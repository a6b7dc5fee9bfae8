import type { DataPlane } from './context.js'
import { isSameForm, type TableForm, wholeForm } from './table-form.js'

/** When a data plane's tables take another form. */
export interface FormLimits {
  /** From so many virtual hosts on they are in shards. */
  readonly up: number
  /** Below so many they are whole again; at most `up`. */
  readonly down: number
  /** How long a switch is apart from the last one of the same data plane, in milliseconds. */
  readonly restMs: number
}

/**
 * Below a thousand hosts a change of a whole table costs an Envoy few milliseconds, and requests are spared the filter
 * that shards need. Between the two limits nothing is switched, so that a number which goes to and fro around one
 * of them switches nothing. An Envoy drains the listener of the old form for ten minutes: so long it has both.
 */
export const formLimits: FormLimits = { up: 1_000, down: 500, restMs: 600_000 }

/** The form of one data plane's tables, and what was decided of it. */
export interface FormChoice {
  readonly form: TableForm
  /** When it was switched last, in milliseconds; `undefined` if it never was: the first decision is no switch. */
  readonly switchedAt: number | undefined
  /** When it is to be switched to another one that it was too early for, in milliseconds. */
  readonly dueAt: number | undefined
}

/** The choices of all data planes, by name. */
export interface FormChoices {
  readonly byPlane: ReadonlyMap<string, FormChoice>
  /** The forms in force: the very same map until there is a switch. */
  readonly forms: ReadonlyMap<string, TableForm>
}

/** Nothing was decided yet. */
export const noFormChoices: FormChoices = { byPlane: new Map(), forms: new Map() }

/**
 * Decides on the form of the tables of a data plane that has so many virtual hosts.
 *
 * | hosts              | in force | what is in force then                          |
 * | ------------------ | -------- | ---------------------------------------------- |
 * | any, no shards     | any      | whole                                          |
 * | `up` or more       | any      | shards, as many as the data plane allows       |
 * | fewer than `down`  | any      | whole                                          |
 * | between            | any      | what is in force                               |
 *
 * The first decision is made at once, and so is a switch `restMs` after the last one, or the first of all; another one
 * waits until then. A process that begins between the limits begins whole. Gives the very same choice where nothing is
 * another than it was.
 */
export const chooseForm = (
  before: FormChoice | undefined,
  { shards = 0 }: Pick<DataPlane, 'shards'>,
  hosts: number,
  nowMs: number,
  limits: FormLimits = formLimits,
): FormChoice => {
  const wanted = wantedForm(before?.form ?? wholeForm, shards, hosts, limits)
  if (before === undefined) return { form: wanted, switchedAt: undefined, dueAt: undefined }
  if (isSameForm(before.form, wanted))
    return before.dueAt === undefined ? before : { ...before, dueAt: undefined }
  const { switchedAt } = before
  const dueAt = switchedAt === undefined ? nowMs : switchedAt + limits.restMs
  if (dueAt <= nowMs) return { form: wanted, switchedAt: nowMs, dueAt: undefined }
  return before.dueAt === dueAt ? before : { ...before, dueAt }
}

const wantedForm = (
  inForce: TableForm,
  shards: number,
  hosts: number,
  { up, down }: FormLimits,
): TableForm => {
  if (shards === 0 || hosts < down) return wholeForm
  return hosts >= up ? { _tag: 'Sharded', shards } : inForce
}

/** Decides for all data planes. Gives the very same choices where none is another than it was. */
export const chooseForms = (
  before: FormChoices,
  dataPlanes: ReadonlyMap<string, Pick<DataPlane, 'shards'>>,
  hosts: ReadonlyMap<string, number>,
  nowMs: number,
  limits: FormLimits = formLimits,
): FormChoices => {
  const byPlane = new Map<string, FormChoice>()
  for (const [name, plane] of dataPlanes) {
    const known = before.byPlane.get(name)
    byPlane.set(name, chooseForm(known, plane, hosts.get(name) ?? 0, nowMs, limits))
  }
  const isSame = [...byPlane].every(([name, choice]) => before.byPlane.get(name) === choice)
  if (isSame && byPlane.size === before.byPlane.size) return before
  const isSwitch = [...byPlane].some(
    ([name, { form }]) => !isSameForm(before.forms.get(name) ?? wholeForm, form),
  )
  const forms = new Map([...byPlane].map(([name, { form }]) => [name, form]))
  return { byPlane, forms: isSwitch ? forms : before.forms }
}

/** When `chooseForms` is to be asked again even if nothing has changed, in milliseconds. */
export const nextFormTimer = ({ byPlane }: FormChoices): number | undefined => {
  const times = [...byPlane.values()].flatMap(({ dueAt }) => dueAt ?? [])
  return times.length === 0 ? undefined : Math.min(...times)
}
