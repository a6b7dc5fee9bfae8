import {
  HeaderValue,
  HeaderValueOption,
  HeaderValueOption_HeaderAppendAction as AppendAction,
} from '../../../../gen/envoy/config/core/v3/base.js'
import { modelled, notModelled } from './modelled.js'

/** One header line; names are in lower case once they are in Envoy. */
export type Header = readonly [name: string, value: string]

/** What one level of the configuration (weighted cluster, route, host, table) does to headers. */
export interface HeaderChange {
  readonly remove: ReadonlyArray<string>
  readonly add: ReadonlyArray<AddedHeader>
}

export interface AddedHeader {
  readonly name: string
  readonly value: string
  readonly action: 'append' | 'addIfAbsent' | 'overwrite' | 'overwriteIfPresent'
}

/** Lower-cases the names, as Envoy does on receipt. */
export const lowerCased = (headers: ReadonlyArray<Header>): ReadonlyArray<Header> =>
  headers.map(([name, value]) => [name.toLowerCase(), value])

/** The values of a header, whose name is in lower case. */
export const valuesOf = (headers: ReadonlyArray<Header>, name: string): ReadonlyArray<string> =>
  headers.flatMap(([key, value]) => (key === name ? [value] : []))

/**
 * Applies changes level by level.
 *
 * In a level Envoy removes first, decides by what is there then, overwrites, and adds last.
 */
export const changeHeaders = (
  headers: ReadonlyArray<Header>,
  changes: ReadonlyArray<HeaderChange>,
): ReadonlyArray<Header> => changes.reduce(changeLevel, headers)

/** Reads one level. */
export const readHeaderChange = (
  toAdd: ReadonlyArray<HeaderValueOption> | undefined,
  toRemove: ReadonlyArray<string> | undefined,
): HeaderChange => ({
  remove: (toRemove ?? []).map((name) => name.toLowerCase()),
  add: (toAdd ?? []).flatMap(readAddedHeader),
})

const changeLevel = (
  headers: ReadonlyArray<Header>,
  { remove, add }: HeaderChange,
): ReadonlyArray<Header> => {
  const kept = headers.filter(([name]) => !remove.includes(name))
  const isPresent = (name: string): boolean => kept.some(([key]) => key === name)
  const overwriting = add.filter(
    ({ name, action }) =>
      action === 'overwrite' || (action === 'overwriteIfPresent' && isPresent(name)),
  )
  const adding = add.filter(
    ({ name, action }) => action === 'append' || (action === 'addIfAbsent' && !isPresent(name)),
  )
  const overwritten = overwriting.reduce(
    (all, { name, value }) => [...all.filter(([key]) => key !== name), [name, value] as const],
    kept,
  )
  return [...overwritten, ...adding.map(({ name, value }): Header => [name, value])]
}

/** An empty value adds no header unless `keep_empty_value` says so. */
const readAddedHeader = (option: HeaderValueOption): ReadonlyArray<AddedHeader> => {
  checkOption(option)
  const header = option.header ?? {}
  checkHeader(header)
  const value = unescape(header.value ?? '')
  if (value === '' && option.keepEmptyValue !== true) return []
  return [
    { name: (header.key ?? '').toLowerCase(), value, action: readAction(option.appendAction) },
  ]
}

const readAction = (action: AppendAction | undefined): AddedHeader['action'] => {
  switch (action ?? AppendAction.APPEND_IF_EXISTS_OR_ADD) {
    case AppendAction.APPEND_IF_EXISTS_OR_ADD:
      return 'append'
    case AppendAction.ADD_IF_ABSENT:
      return 'addIfAbsent'
    case AppendAction.OVERWRITE_IF_EXISTS_OR_ADD:
      return 'overwrite'
    case AppendAction.OVERWRITE_IF_EXISTS:
      return 'overwriteIfPresent'
    case AppendAction.UNRECOGNIZED:
      return notModelled(`HeaderValueOption.appendAction ${action}`)
  }
}

/** A header's value is a format string, in which `%%` stands for a percent sign. */
const unescape = (format: string): string =>
  format.replace(/%%|%[^%]*%?/g, (part) =>
    part === '%%' ? '%' : notModelled(`the command ${part} in a header's value`),
  )

const checkOption = modelled(HeaderValueOption, ['header', 'appendAction', 'keepEmptyValue'])
const checkHeader = modelled(HeaderValue, ['key', 'value'])
