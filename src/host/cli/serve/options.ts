import type { Either } from 'fp-ts/lib/Either.js'
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { Context } from '../../../core/context.js'
import { type LogLevel, logLevels } from '../../../ports/logger.js'
import type { HostPort } from '../../bootstrap.js'
import { type Arguments, labelOf, type Option } from '../command.js'
import { type LogFormat, logFormatOption, logFormats, logLevelOption } from '../logging.js'
import {
  adminExample,
  adminListenOption,
  contextFrom,
  dataPlaneOption,
  forgetNodeAfterOption,
  listenerOption,
  rosterOption,
  xdsOption,
} from '../options.js'
import { parseChoice, parseForgetAfter, parseHostPort } from '../values.js'
import { allowAddressOption, withAddresses } from './addresses.js'
import { shardsOption, withShards } from './shards.js'
import { parseSource, type SourceOptions, sourceOptions } from './source-options.js'

/** The options that can also stand in a file. */
export const fileOptions: ReadonlyArray<Option> = [
  ...sourceOptions,
  xdsOption,
  adminListenOption,
  listenerOption,
  allowAddressOption,
  dataPlaneOption,
  shardsOption,
  rosterOption,
  forgetNodeAfterOption,
  logLevelOption,
  logFormatOption,
]

export const configOption: Option = {
  name: 'config',
  value: 'FILE',
  help: 'a YAML file with options, as in forgetNodeAfter: 72h; those given here win',
}

/** What `serve` is to do. */
export interface ServeOptions {
  readonly source: SourceOptions
  readonly xds: HostPort
  /** `undefined` for none. */
  readonly admin: HostPort | undefined
  /** `undefined` for never. */
  readonly forgetNodeAfterMs: number | undefined
  readonly context: Context
  readonly level: LogLevel
  readonly format: LogFormat
}

/** Understands the arguments, wherever they come from. */
export const parseServe = (args: Arguments): Either<string, ServeOptions> => {
  const label = labelOf(args)
  const text = ({ name, fallback }: Option): string =>
    args.values.get(name)?.at(-1) ?? fallback ?? ''
  return pipe(
    E.Do,
    E.bind('source', () => parseSource(args)),
    E.bind('xds', () => parseHostPort(label('xds'), text(xdsOption), 0)),
    E.bind('admin', () => parseAdmin(label('admin'), text(adminListenOption))),
    E.bind('forgetNodeAfterMs', () =>
      parseForgetAfter(label(forgetNodeAfterOption.name), text(forgetNodeAfterOption)),
    ),
    E.bind('context', ({ source }) =>
      pipe(
        contextFrom(args),
        E.chain((context) => withAddresses(context, source._tag, args)),
        E.chain((context) => withShards(context, args)),
      ),
    ),
    E.bind('level', () => parseChoice(label(logLevelOption.name), text(logLevelOption), logLevels)),
    E.bind('format', () =>
      parseChoice(label(logFormatOption.name), text(logFormatOption), logFormats),
    ),
  )
}

const parseAdmin = (label: string, text: string): Either<string, HostPort | undefined> =>
  text === 'off' ? E.right(undefined) : parseHostPort(label, text, 0, `${adminExample}, or off`)
