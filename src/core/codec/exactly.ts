import type { Codec } from './record.js'

/** True if `A` and `B` are the same type, optional and readonly fields included. */
export type Equals<A, B> =
  (<T>(probe: T) => T extends A ? 1 : 2) extends <T>(probe: T) => T extends B ? 1 : 2 ? true : false

/**
 * The same codec, if its type is exactly `A`: with an annotation alone, optional fields could differ.
 *
 * `exactly<A>()(codec)` does not compile otherwise.
 */
export const exactly =
  <A>() =>
  <B>(codec: Codec<B> & (Equals<A, B> extends true ? unknown : never)): Codec<B> =>
    codec
