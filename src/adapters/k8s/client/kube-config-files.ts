import { dirname, isAbsolute, join } from 'node:path'
import * as library from '@kubernetes/client-node'
import * as E from 'fp-ts/lib/Either.js'
import { isList, isObject, type JsonObject, objectIn, textIn } from '../reflector/index.js'
import type { KubeCluster, KubeContext, KubeUser } from './kube-config.js'
import { readText } from './read-text.js'

/** What makes a KubeConfig. */
export interface KubeConfigParts {
  readonly clusters: ReadonlyArray<KubeCluster>
  readonly users: ReadonlyArray<ReadUser>
  readonly contexts: ReadonlyArray<KubeContext>
  readonly currentContext: string | undefined
}

export interface ReadUser {
  readonly name: string
  readonly user: KubeUser
  /** Why we cannot act as this user, for people. */
  readonly problem?: string | undefined
}

/**
 * Reads kubeconfig files, and merges them: of two things with one name the first is taken. A left
 * says what is wrong and what to do, for people.
 */
export const readKubeConfigs = async (
  paths: ReadonlyArray<string>,
): Promise<E.Either<string, KubeConfigParts>> => {
  const all: Array<KubeConfigParts> = []
  for (const path of paths) {
    const text = await readText(path)
    if (E.isLeft(text) && text.left.isMissing) continue
    if (E.isLeft(text)) return E.left(`cannot read the kubeconfig ${path}: ${text.left.why}`)
    const parts = parse(text.right, path)
    if (E.isLeft(parts)) return parts
    all.push(parts.right)
  }
  if (all.length > 0) return E.right(merged(all))
  return E.left(
    paths.length === 0
      ? 'no kubeconfig was named'
      : `there is no kubeconfig at ${paths.join(' or ')}. Name one that is there.`,
  )
}

const merged = (all: ReadonlyArray<KubeConfigParts>): KubeConfigParts => ({
  clusters: firsts(all.flatMap(({ clusters }) => clusters)),
  users: firsts(all.flatMap(({ users }) => users)),
  contexts: firsts(all.flatMap(({ contexts }) => contexts)),
  currentContext: all.find(({ currentContext }) => currentContext !== undefined)?.currentContext,
})

const firsts = <A extends { readonly name: string }>(all: ReadonlyArray<A>): ReadonlyArray<A> => {
  const found = new Map<string, A>()
  for (const each of all) if (!found.has(each.name)) found.set(each.name, each)
  return [...found.values()]
}

const parse = (text: string, path: string): E.Either<string, KubeConfigParts> => {
  try {
    const raw: unknown = library.loadYaml(text)
    if (!isObject(raw) || (raw.kind !== undefined && raw.kind !== 'Config'))
      return E.left(`${path} is no kubeconfig: its kind must be Config.`)
    const read = new library.KubeConfig()
    read.loadFromString(text)
    read.makePathsAbsolute(dirname(path))
    return E.right({
      clusters: read.getClusters(),
      users: read.getUsers().map((user) => whole(user, rawUserOf(raw, user.name), dirname(path))),
      contexts: read.getContexts(),
      currentContext: textIn(raw, 'current-context'),
    })
  } catch (cause) {
    // A parser shows the lines themselves behind the first, secrets among them.
    const [why] = (cause instanceof Error ? cause.message : String(cause)).split('\n', 1)
    return E.left(`${path} is no kubeconfig: ${why}`)
  }
}

const rawUserOf = (raw: JsonObject, name: string): JsonObject => {
  const users = isList(raw.users) ? raw.users : []
  return objectIn(
    users.find((each) => isObject(each) && each.name === name),
    'user',
  )
}

/** What the library leaves out, and acting on a name alone would not be what was meant. */
const unsupported = ['as-uid', 'as-groups', 'as-user-extra']

/** Adds what the library does not read, and paths that it leaves relative. */
const whole = (read: KubeUser, raw: JsonObject, directory: string): ReadUser => {
  const { name } = read
  const found = unsupported.find((key) => key in raw)
  const problem =
    found === undefined
      ? undefined
      : `user "${name}" has ${found}, which is not supported: remove it.`
  const from = (path: string): string => (isAbsolute(path) ? path : join(directory, path))
  const tokenFile = textIn(raw, 'tokenFile')
  if (tokenFile !== undefined)
    return { name, problem, user: { ...read, ...tokenIn(from(tokenFile)) } }
  const command = textIn(objectIn(raw, 'exec'), 'command')
  // A name without a slash is looked for in PATH.
  const isPath = command?.includes('/') === true
  const exec: unknown = isPath ? { ...objectIn(raw, 'exec'), command: from(command) } : read.exec
  return { name, problem, user: { ...read, exec } }
}

/** How the library says it. */
export const tokenIn = (tokenFile: string): Pick<KubeUser, 'authProvider'> => ({
  authProvider: { name: 'tokenFile', config: { tokenFile } },
})
