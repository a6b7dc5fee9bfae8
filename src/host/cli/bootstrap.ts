import { randomUUID } from 'node:crypto'
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { Variant } from '../../core/xds/messages.js'
import { bootstrap, defaultMaxConnections, type HostPort } from '../bootstrap.js'
import { type Arguments, type Command, valueOf } from './command.js'
import { dataPlaneOption, xdsOption } from './options.js'
import { parseChoice, parseCount, parseDataPlane, parseHostPort } from './values.js'
import { exitCodes } from './world.js'

/** Prints a bootstrap for one Envoy. */
export const bootstrapCommand: Command = {
  name: 'bootstrap',
  summary: 'print the bootstrap of an Envoy that connects to edgewright',
  description: `Prints the bootstrap of one Envoy as JSON, to be run with envoy -c FILE.
Print one for each Envoy: each has a node id of its own, and no two running Envoys may share one.`,
  operands: [],
  options: [
    xdsOption,
    { name: 'id', value: 'ID', help: "the Envoy's own name (default: the data plane and a UUID)" },
    dataPlaneOption,
    {
      name: 'envoy-admin',
      value: 'HOST:PORT|none',
      fallback: '127.0.0.1:9901',
      help: 'where Envoy itself has its admin interface; whoever reaches it can stop the Envoy',
    },
    {
      name: 'variant',
      value: 'delta|sotw',
      fallback: 'delta',
      help: 'how changes are sent: what has changed, or everything',
    },
    {
      name: 'max-connections',
      value: 'N',
      fallback: `${defaultMaxConnections}`,
      help: 'how many connections of clients the Envoy takes at a time',
    },
  ],
  prepare: (args) =>
    pipe(
      optionsOf(args),
      E.map(({ id, admin, ...rest }) => (world) => {
        const named = { id: id ?? `${rest.dataPlane}-${randomUUID()}`, ...rest }
        const made = bootstrap(admin === undefined ? named : { ...named, admin })
        world.out(`${JSON.stringify(made, undefined, 2)}\n`)
        return Promise.resolve(exitCodes.ok)
      }),
    ),
}

const variants: ReadonlyArray<Variant> = ['delta', 'sotw']

interface Parsed {
  readonly id: string | undefined
  readonly dataPlane: string
  readonly xds: HostPort
  readonly admin: HostPort | undefined
  readonly variant: Variant
  readonly maxConnections: number
}

const optionsOf = (args: Arguments): E.Either<string, Parsed> => {
  const text = (name: string): string => valueOf(bootstrapCommand, args, name) ?? ''
  return pipe(
    E.Do,
    E.bind('xds', () => parseHostPort('--xds', text('xds'))),
    E.bind('admin', () => parseAdmin(text('envoy-admin'))),
    E.bind('variant', () => parseChoice('--variant', text('variant'), variants)),
    E.bind('maxConnections', () => parseCount('--max-connections', text('max-connections'))),
    E.bind('dataPlane', () => parseDataPlane(text('data-plane'))),
    E.map((parsed) => ({ ...parsed, id: valueOf(bootstrapCommand, args, 'id') })),
  )
}

const parseAdmin = (text: string): E.Either<string, HostPort | undefined> =>
  text === 'none' ? E.right(undefined) : parseHostPort('--envoy-admin', text, 0, exampleOfAdmin)

const exampleOfAdmin = 'HOST:PORT, as in 127.0.0.1:9901 or [::1]:9901, or none'
