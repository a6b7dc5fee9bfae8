import * as library from '@kubernetes/client-node'
import * as E from 'fp-ts/lib/Either.js'
import { type InCluster, inCluster } from './in-cluster.js'
import type { KubeConfig } from './kube-config.js'
import { type KubeConfigParts, readKubeConfigs } from './kube-config-files.js'
import { targetOf } from './server.js'

/** Where credentials come from. */
export type KubeConfigFrom =
  | {
      readonly _tag: 'Files'
      /**
       * In the order of their weight, as in `KUBECONFIG`: of two things with one name the first is
       * taken.
       */
      readonly paths: ReadonlyArray<string>
      /** In place of `current-context`. */
      readonly context?: string | undefined
    }
  | InCluster

/**
 * Loads what tells where an API server is and who asks, from kubeconfig files or as a Pod. Reads no
 * environment variable. A left says what is wrong and what to do, for people.
 *
 * Guarantees: beside what the library understands, a `tokenFile` counts, before a `token`, and is
 * read again as it changes; the paths in a file, that of a program too, start from its folder; as
 * with kubectl, files that are not there are passed over, as long as there is one. What would be
 * ignored, and make requests other than they were meant, is refused: impersonation of anything but
 * a name, and `proxy-url`.
 *
 * @category kubernetes
 * @since 0.3.0
 */
export const loadKubeConfig = async (
  from: KubeConfigFrom,
): Promise<E.Either<string, KubeConfig>> => {
  const isFiles = from._tag === 'Files'
  const parts = isFiles ? await readKubeConfigs(from.paths) : await inCluster(from)
  if (E.isLeft(parts)) return parts
  return chosen(parts.right, isFiles ? from.context : undefined)
}

const chosen = (
  { clusters, users, contexts, currentContext }: KubeConfigParts,
  wanted: string | undefined,
): E.Either<string, KubeConfig> => {
  const name = wanted ?? currentContext
  const names = contexts.map((each) => each.name).join(', ')
  const has = names === '' ? 'It has none.' : `Choose one of: ${names}.`
  if (name === undefined) return E.left(`the kubeconfig has no current-context. ${has}`)
  const context = contexts.find((each) => each.name === name)
  if (context === undefined) return E.left(`the kubeconfig has no context "${name}". ${has}`)
  const { cluster, user } = context
  if (!clusters.some((each) => each.name === cluster))
    return E.left(
      `context "${name}" names cluster "${cluster}", which the kubeconfig does not have.`,
    )
  // The library says `undefined` here where its types do not.
  const isNamed = typeof user === 'string'
  const found = users.find((each) => each.name === user)
  if (isNamed && found === undefined)
    return E.left(`context "${name}" names user "${user}", whom the kubeconfig does not have.`)
  if (found?.problem !== undefined) return E.left(found.problem)
  const made = new library.KubeConfig()
  made.loadFromOptions({
    clusters,
    users: users.map((each) => each.user),
    contexts,
    currentContext: name,
  })
  const target = targetOf(made)
  return E.isLeft(target) ? target : E.right(made)
}
