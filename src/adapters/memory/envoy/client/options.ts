import type { TypeUrl } from '../../../../core/type-url.js'
import type { NodeIdentity, Variant } from '../../../../core/xds/messages.js'

export interface EnvoyOptions {
  /** Its build is 1.40.0 if absent. */
  readonly node: NodeIdentity
  readonly variant: Variant
  /**
   * How a delta client asks for all of a type: by the name `*`, or by no name at all, as Envoy does
   * of old. By no name if absent.
   */
  readonly wildcard?: 'star' | 'legacy'
  /**
   * Says what else is wrong with a resource. By itself an Envoy refuses what breaks the protocol,
   * ports that are taken, scopes that have one key or no table, and route tables with a regex that is
   * none or too large, with a domain twice, with an unknown cluster where those are checked, or with a
   * host without name or domain.
   */
  readonly refuse?: Refuse
  /**
   * Chooses what chance chooses in a real Envoy: which good ones of a refused batch of route tables
   * or endpoints are applied (xDS protocol, 2.8, D). All of them if absent.
   */
  readonly seed?: number
  /**
   * How long old connections of a removed or changed listener go on; `defaultDrainMs` if absent.
   */
  readonly drainMs?: number
  /** Says whether a host name is resolved, at once; a resolver that says no is a silent one. */
  readonly resolves?: (host: string) => boolean
  /** Says whether somebody else has a port; asked when a listener would take it. */
  readonly busyPorts?: (port: number) => boolean
}

/**
 * What is wrong with a resource, `undefined` to accept it. A cluster or listener that an Envoy has
 * already, in the very same form, is not looked at again, so it is never refused.
 */
export type Refuse = (typeUrl: TypeUrl, name: string, bytes: Uint8Array) => Refusal | undefined

/** The reason alone, or with what else comes of it. */
export type Refusal =
  | string
  | {
      readonly reason: string
      /** It spoils the whole response: nothing of that is applied. So does a negative duration. */
      readonly whole?: boolean
      /**
       * The cluster is refused, and warms all the same, for ever: so does one whose load balancer
       * cannot be made. It withholds the answers to later responses until it is removed or
       * replaced.
       */
      readonly sticks?: boolean
    }

/** How long Envoy drains by default (`--drain-time-s`), in milliseconds. */
export const defaultDrainMs = 600_000

/**
 * How long Envoy waits for a first answer by default (`initial_fetch_timeout`), in milliseconds.
 */
export const defaultFetchMs = 15_000
