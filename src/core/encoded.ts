import type { Route } from '../gen/envoy/config/route/v3/route_components.js'

/** What generated codecs write with. */
type Writer = ReturnType<typeof Route.encode>

/** A generated codec, as far as it writes. */
interface Encoder<Message> {
  readonly encode: (message: Message, writer?: Writer) => Writer
}

/**
 * The bytes of a message. One writer serves all, so that thousands of small messages do not make as many buffers that
 * are larger than they are.
 */
export const encoded = <Message>(codec: Encoder<Message>, message: Message): Uint8Array => {
  const given = writer
  // Should the codec throw, what is half written is left behind.
  writer = undefined
  const used = codec.encode(message, given)
  const bytes = used.finish()
  writer = used
  return bytes
}

/** The codec makes the first one. */
let writer: Writer | undefined
