import type { Arguments } from '../command.js'
import { clusterFlag } from '../cluster/options.js'
import { hasFlag } from '../command.js'
import type { GivenInFile } from './config-file.js'
import { routesOption, sourceOptions } from './source-options.js'

/**
 * The arguments of the command line, and of a file where those say nothing.
 *
 * Each option by itself, a list as a whole. Only where the routes come from is one thing: a command line that names a
 * directory is not told of the cluster that a file names, and the other way round.
 */
export const mergeArguments = (line: Arguments, file: GivenInFile): Arguments => {
  const isOverruled = overruledBy(line)
  const fromFile = [...file.values].filter(([name]) => !line.values.has(name) && !isOverruled(name))
  return {
    operands: line.operands,
    values: new Map([...fromFile, ...line.values]),
    placeOf: (name, index) => (line.values.has(name) ? undefined : file.placeOf(name, index)),
  }
}

const overruledBy = (line: Arguments): ((name: string) => boolean) => {
  if (hasFlag(line, routesOption.name))
    return (name) => name !== routesOption.name && sourceOptions.some((each) => each.name === name)
  return clusterFlag(line) === undefined ? () => false : (name) => name === routesOption.name
}
