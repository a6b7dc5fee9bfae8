import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'

/**
 * Says why a request is not one of a person on this machine, if it is not.
 *
 * The endpoint knows its callers only by their being here, and so is a browser that shows somebody's
 * page. Three things that a page cannot avoid give it away: a name in `Host` that leads here (DNS
 * rebinding), an `Origin`, and `Sec-Fetch-Site`. `ownHost` is the name that the endpoint was told to
 * listen on, if it was a name.
 */
export const strangerOf = (request: IncomingMessage, ownHost: string): string | undefined => {
  const hosts = request.headersDistinct['host'] ?? []
  const host = hosts.length === 1 ? nameOf(hosts[0] ?? '') : undefined
  if (host === undefined || !(isIP(host) !== 0 || host === 'localhost' || host === ownHost))
    return 'the Host header must be an IP address or localhost: ask for the address, not for a name'
  const site = request.headers['sec-fetch-site']
  return request.headers.origin !== undefined || (site !== undefined && site !== 'none')
    ? 'requests of web pages are not answered'
    : undefined
}

/** The host in `host:port`, in lower case and without brackets. */
const nameOf = (header: string): string | undefined => {
  const match = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::\d{1,5})?$/.exec(header)
  return (match?.[1] ?? match?.[2])?.toLowerCase()
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

/** True if only this machine reaches the address. */
export const isLoopback = (address: string): boolean =>
  loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
