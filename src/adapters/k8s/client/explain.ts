import type { ApiReply } from '../api.js'
import { isObject, textIn } from '../reflector/index.js'

/**
 * Adds to a reply with 401 what was sent, and to a 403 that nothing was: the server itself says no
 * more than that somebody is not who they should be. `problem` says why there are no newer
 * credentials.
 */
export const explainRefusal = (
  reply: ApiReply,
  sent: string,
  problem: string | undefined,
): ApiReply => {
  const { status, body } = reply
  const isNobody = sent.startsWith(nobody)
  if (status !== 401 && !(status === 403 && isNobody)) return reply
  const said = isObject(body) ? body : { kind: 'Status', code: status }
  const more = problem === undefined ? '' : `; newer ones are not to be had: ${problem}`
  const message = `${textIn(said, 'message') ?? `HTTP ${status}`} (sent: ${sent}${more})`
  return { ...reply, body: { ...said, message } }
}

/** How it is said that there are none. */
export const nobody = 'no credentials'

/**
 * What went wrong with a connection, and what to do about it; stands behind the server and what was
 * asked of it.
 */
export const explainBreak = (cause: unknown, server: URL): string => {
  const code = codeOf(cause)
  return explainNetwork(code, server) ?? explainCertificate(code, cause) ?? messageOf(cause, code)
}

const explainNetwork = (code: string, { hostname }: URL): string | undefined => {
  switch (code) {
    case 'ECONNREFUSED':
      return 'nothing listens at this address. Is the API server running, and is it the right address and port?'
    case 'ENOTFOUND':
      return `the name ${hostname} has no address. Check the server's name, and the DNS of this machine.`
    case 'EAI_AGAIN':
      return `the DNS of this machine does not answer for ${hostname}. Check its network and its name servers.`
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `there is no way to this address (${code}). Check routes, firewalls and network policies.`
    case 'ECONNRESET':
    case 'EPIPE':
      return 'the connection was reset. The API server, or something in between, has ended it.'
    case 'EMFILE':
      return 'this process has too many open files. Raise its limit (ulimit -n).'
    default:
      return undefined
  }
}

const explainCertificate = (code: string, cause: unknown): string | undefined => {
  switch (code) {
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'CERT_SIGNATURE_FAILURE':
      return `its certificate is not signed by whom we trust (${code}). Check certificate-authority of the cluster.`
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `its certificate is for other names. Use one of them, or set tls-server-name. (${messageOf(cause, code)})`
    case 'CERT_HAS_EXPIRED':
      return 'its certificate has expired. Renew it, or set the clock of this machine.'
    case 'CERT_NOT_YET_VALID':
      return 'its certificate is not valid yet. Set the clock of this machine.'
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return 'it does not speak TLS. Is this the right port, or should the address begin with http://?'
    case 'ERR_OSSL_X509_KEY_VALUES_MISMATCH':
      return 'our key does not belong to our certificate. Check client-certificate and client-key of the user.'
    default:
      return /^ERR_SSL_.*ALERT.*(CERTIFICATE|CA|ACCESS_DENIED)/.test(code)
        ? `it refuses our certificate (${code}). Check client-certificate of the user.`
        : undefined
  }
}

const messageOf = (cause: unknown, code: string): string => {
  const message = cause instanceof Error ? cause.message : String(cause)
  return message === '' ? code : message
}

const codeOf = (cause: unknown): string =>
  cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
