import type { Either } from 'fp-ts/lib/Either.js'
import * as E from 'fp-ts/lib/Either.js'
import { parseAddressPolicy } from '../../../core/address-policy.js'
import type { AddressPolicy, Context } from '../../../core/context.js'
import { type Arguments, labelOf, type Option, valuesOf } from '../command.js'
import type { SourceOptions } from './source-options.js'

export const allowAddressOption: Option = {
  name: 'allow-address',
  value: 'CIDR|.SUFFIX',
  repeatable: true,
  help: 'addresses that backends may have beside Services (default: none in a cluster, any in files)',
}

/**
 * The same world, with the addresses that backends may have. Whoever may write a route in a cluster is not trusted to
 * name any address that Envoys reach; whoever writes the files is.
 */
export const withAddresses = (
  context: Context,
  source: SourceOptions['_tag'],
  args: Arguments,
): Either<string, Context> => {
  const texts = valuesOf(args, allowAddressOption.name)
  if (texts.length === 0 && source === 'Files') return E.right(context)
  const policy = parseAddressPolicy(texts)
  if (E.isRight(policy)) return E.right(allowing(context, policy.right))
  const [first] = policy.left
  const index = Number(/^\[(\d+)\]/.exec(first?.path ?? '')?.[1] ?? 0)
  const label = labelOf(args)(allowAddressOption.name, index)
  return E.left(`${label} ${texts[index] ?? ''}: ${first?.message ?? ''}`)
}

const allowing = (context: Context, addresses: AddressPolicy): Context => ({
  ...context,
  dataPlanes: new Map(
    [...context.dataPlanes].map(([name, plane]) => [name, { ...plane, addresses }]),
  ),
})
