/** Where something listens. */
export interface HostPort {
  /** An IP address or a DNS name. */
  readonly host: string
  readonly port: number
}

/** `host:port`, with an IPv6 address in brackets. */
export const showHostPort = ({ host, port }: HostPort): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
