import type { Either } from 'fp-ts/lib/Either.js'
import * as E from 'fp-ts/lib/Either.js'
import type { Context } from '../../../core/context.js'
import { maxShards } from '../../../core/table-form.js'
import { type Arguments, labelOf, type Option, valuesOf } from '../command.js'

export const shardsOption: Option = {
  name: 'shards',
  value: 'COUNT',
  fallback: '256',
  help: 'into how many tables the Envoys get their routes once the hosts are many, 1000 or more; 0 for never',
}

/** The context with leave to put the hosts of every data plane into as many tables as `--shards` says. */
export const withShards = (context: Context, args: Arguments): Either<string, Context> => {
  const text = valuesOf(args, shardsOption.name).at(-1) ?? shardsOption.fallback ?? ''
  const shards = /^\d{1,6}$/.test(text) ? Number(text) : maxShards + 1
  if (shards > maxShards)
    return E.left(
      `${labelOf(args)(shardsOption.name)} ${text}: should be a whole number from 0 to ${maxShards}`,
    )
  const dataPlanes = [...context.dataPlanes].map(
    ([name, plane]) => [name, { ...plane, shards }] as const,
  )
  return E.right({ ...context, dataPlanes: new Map(dataPlanes) })
}
