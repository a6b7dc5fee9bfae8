import type { Either } from 'fp-ts/lib/Either.js'
import * as E from 'fp-ts/lib/Either.js'
import {
  clusterFlag,
  type ClusterOptions,
  clusterOptions,
  ownNamespaceOption,
  parseCluster,
} from '../cluster/options.js'
import { type Arguments, hasFlag, labelOf, type Option, valuesOf } from '../command.js'
import { rosterOption } from '../options.js'
import { parseDnsLabel } from '../values.js'

export const routesOption: Option = {
  name: 'routes',
  value: 'DIR',
  isOperand: true,
  help: 'the directory of YAML EdgeRoutes; it is watched',
}

export const namespaceOption: Option = {
  name: 'namespace',
  value: 'NAMESPACE',
  repeatable: true,
  help: 'serve the routes of this namespace of the cluster only (default: of all)',
}

/** Where routes come from, and what belongs to that. */
export const sourceOptions: ReadonlyArray<Option> = [
  routesOption,
  ...clusterOptions('serve the EdgeRoutes of a Kubernetes cluster'),
  namespaceOption,
]

/** Those that say nothing where routes come from a directory. */
const ofCluster: ReadonlyArray<string> = [namespaceOption.name, ownNamespaceOption.name]

export type SourceOptions =
  | {
      readonly _tag: 'Files'
      readonly directory: string
      /** The file where the list of Envoys is kept; in memory only if `undefined`. */
      readonly roster: string | undefined
    }
  | {
      readonly _tag: 'Kubernetes'
      readonly cluster: ClusterOptions
      /** All if `undefined`. */
      readonly namespaces: ReadonlyArray<string> | undefined
    }

/** Where routes come from: either a directory or a cluster. */
export const parseSource = (args: Arguments): Either<string, SourceOptions> => {
  const [directory] = valuesOf(args, routesOption.name)
  const flag = clusterFlag(args)
  const label = labelOf(args)
  if (directory === undefined)
    return flag === undefined ? E.left(missing(args)) : parseKubernetes(args)
  const stray = flag ?? ofCluster.find((name) => hasFlag(args, name))
  return stray === undefined
    ? E.right({ _tag: 'Files', directory, roster: valuesOf(args, rosterOption.name).at(-1) })
    : E.left(
        `${label(stray)} goes with a cluster, and ${label(routesOption.name)} with a directory: give one of them`,
      )
}

/**
 * How many namespaces may be named: each is followed by streams of its own, and the adapter follows no more. (It is
 * loaded only where a cluster is asked for.)
 */
export const maxNamespaces = 64

const missing = (args: Arguments): string => {
  const stray = ofCluster.find((name) => hasFlag(args, name))
  const hint = stray === undefined ? '' : `; ${labelOf(args)(stray)} goes with --kubernetes`
  return `--routes DIR is missing, or --kubernetes: where the routes are${hint}`
}

const parseKubernetes = (args: Arguments): Either<string, SourceOptions> =>
  hasFlag(args, rosterOption.name)
    ? E.left(noFile(args))
    : E.Monad.chain(parseNamespaces(args), (namespaces) =>
        namespaces !== undefined && namespaces.length > maxNamespaces
          ? E.left(tooMany(args, namespaces.length))
          : E.Functor.map(parseCluster(args), (cluster) => ({
              _tag: 'Kubernetes',
              cluster,
              namespaces,
            })),
      )

/** Of two that have one Lease by turns, each with a file of its own, neither would know the Envoys of the other. */
const noFile = (args: Arguments): string =>
  `${labelOf(args)(rosterOption.name)} goes with a directory of routes: with a cluster the list of Envoys is kept in ` +
  'the cluster, where every control plane finds it that gets the Lease. Leave it out'

const tooMany = (args: Arguments, count: number): string =>
  `${labelOf(args)(namespaceOption.name)} names ${count} namespaces, and may name ${maxNamespaces}: each costs the ` +
  'API server streams of its own. Leave it out to serve all'

/** The namespaces that are meant, each once; `undefined` for all. */
export const parseNamespaces = (
  args: Arguments,
): Either<string, ReadonlyArray<string> | undefined> => {
  const names = valuesOf(args, namespaceOption.name)
  for (const [index, name] of names.entries()) {
    const parsed = parseDnsLabel(labelOf(args)(namespaceOption.name, index), name)
    if (E.isLeft(parsed)) return parsed
  }
  return E.right(names.length === 0 ? undefined : [...new Set(names)])
}
