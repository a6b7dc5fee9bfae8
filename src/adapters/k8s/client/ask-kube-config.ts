import type { RequestOptions } from 'node:https'
import * as library from '@kubernetes/client-node'
import * as E from 'fp-ts/lib/Either.js'
import { objectIn, textIn } from '../reflector/index.js'
import { nobody } from './explain.js'
import type { KubeCluster, KubeConfig, KubeUser } from './kube-config.js'
import { readText } from './read-text.js'

/** What a KubeConfig says to one request, before it is made comparable. */
export interface Asked {
  /** TLS material, headers, and `auth` for a name and a password. */
  readonly options: RequestOptions
  /** What these credentials are, for people. */
  readonly what: string
}

/** The file that the user's token is in. */
export const tokenFileOf = (user: KubeUser | null): string | undefined =>
  textIn(objectIn(objectIn(user, 'authProvider'), 'config'), 'tokenFile')

/**
 * True of a user whose credentials a program prints, which the library remembers for as long as it
 * can.
 */
export const isFromProgram = (user: KubeUser | null): boolean =>
  user !== null &&
  (isThere(user.exec) || 'exec' in objectIn(objectIn(user, 'authProvider'), 'config'))

const isThere = (value: unknown): boolean => value !== undefined && value !== null

/** The same, without anything that it remembers of earlier answers of programs. */
export const forgetful = (kubeConfig: KubeConfig): KubeConfig =>
  loaded(kubeConfig.getClusters(), kubeConfig.getUsers(), kubeConfig)

/**
 * Asks a KubeConfig for the credentials of its current user, and for what makes its current server
 * trusted. A left says what is wrong, for people.
 */
export const askKubeConfig = async (
  kubeConfig: KubeConfig,
  cluster: KubeCluster,
): Promise<E.Either<string, Asked>> => {
  // Over a connection that anybody may listen to no credentials are sent, as kubectl has it.
  if (cluster.server.startsWith('http:'))
    return E.right({ options: {}, what: `${nobody}, since the server is http://` })
  const trust = await trustOf(cluster)
  if (E.isLeft(trust)) return trust
  const user = kubeConfig.getCurrentUser()
  if (user === null)
    return E.right({ options: trust.right, what: `${nobody}, since the context has no user` })
  const tokenFile = tokenFileOf(user)
  return tokenFile === undefined
    ? apply(kubeConfig, user, trust.right)
    : withTokenOf(tokenFile, kubeConfig, user, trust.right)
}

const loaded = (
  clusters: ReadonlyArray<KubeCluster>,
  users: ReadonlyArray<KubeUser>,
  { contexts, currentContext }: KubeConfig,
): KubeConfig => {
  const made = new library.KubeConfig()
  made.loadFromOptions({ clusters, users, contexts, currentContext })
  return made
}

/** The library passes this over where there is no user. */
const trustOf = async (cluster: KubeCluster): Promise<E.Either<string, RequestOptions>> => {
  const { caFile, caData, tlsServerName, skipTLSVerify } = cluster
  const options: RequestOptions = {
    ...(isText(tlsServerName) && { servername: tlsServerName }),
    ...(skipTLSVerify && { rejectUnauthorized: false }),
  }
  if (isText(caFile)) {
    const ca = await readText(caFile)
    return E.isLeft(ca)
      ? E.left(`cannot read the certificate authority ${caFile}: ${ca.left.why}`)
      : E.right({ ...options, ca: ca.right })
  }
  return E.right({ ...options, ...(isText(caData) && { ca: Buffer.from(caData, 'base64') }) })
}

const apply = async (
  kubeConfig: KubeConfig,
  user: KubeUser,
  trust: RequestOptions,
): Promise<E.Either<string, Asked>> => {
  const options: RequestOptions = { ...trust, headers: {} }
  try {
    await kubeConfig.applyToHTTPSOptions(options)
    return E.right({ options, what: describe(user, isBare(options)) })
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.trim() : String(cause)
    return E.left(`cannot get ${describe(user, false)}: ${why}`)
  }
}

/** The library would read the file once a minute only, even after its token was refused. */
const withTokenOf = async (
  path: string,
  kubeConfig: KubeConfig,
  user: KubeUser,
  trust: RequestOptions,
): Promise<E.Either<string, Asked>> => {
  const read = await readText(path)
  if (E.isLeft(read)) return E.left(`cannot read the token in ${path}: ${read.left.why}`)
  const token = read.right.trim()
  if (token === '') return E.left(`the token file ${path} is empty`)
  const others: KubeUser = { ...user, authProvider: undefined, exec: undefined }
  const rest = await apply(
    loaded(kubeConfig.getClusters(), [{ ...others, token }], kubeConfig),
    others,
    trust,
  )
  return E.isLeft(rest) ? rest : E.right({ ...rest.right, what: `the token in ${path}` })
}

const isBare = ({ headers = {}, auth, cert, pfx }: RequestOptions): boolean =>
  !('Authorization' in headers) && auth === undefined && cert === undefined && pfx === undefined

const describe = (user: KubeUser, isNothing: boolean): string => {
  const whose = `of user "${user.name}"`
  const command = textIn(objectIn(user, 'exec'), 'command')
  const provider = textIn(objectIn(user, 'authProvider'), 'name')
  if (isNothing) return `${nobody}, since user "${user.name}" has none`
  if (command !== undefined) return `the credentials ${whose} that ${command} prints`
  if (provider !== undefined) return `the credentials ${whose} by the auth provider ${provider}`
  if (isText(user.token)) return `the token ${whose}`
  if (isText(user.certData) || isText(user.certFile)) return `the certificate ${whose}`
  return `the credentials ${whose}`
}

/** What is not there may be `null` here, whatever the types of the library say. */
const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
