// Envoys without anything behind them, in a process of their own: what they cost is not what the server costs.
import { answerLines, say } from '../lines.mjs'
import { openEnvoy } from './envoy.mjs'

/** What one stream has been sent since it was last told what to expect. */
const nothingReceived = (markers = []) => ({
  missing: new Set(markers),
  responses: {},
  bytes: 0,
})

let streams = []
/** Called when a response has come, or a stream has all that it is to begin with. */
let onProgress = () => undefined

const until = (holds) =>
  new Promise((resolve) => {
    onProgress = () => {
      if (!holds()) return
      onProgress = () => undefined
      resolve()
    }
    onProgress()
  })

const receive = (stream, type, bytes) => {
  const { received } = stream
  received.responses[type] = (received.responses[type] ?? 0) + 1
  received.bytes += bytes.length
  for (const marker of received.missing)
    if (marker.typeUrl === type && bytes.includes(marker.text)) received.missing.delete(marker)
  onProgress()
}

/** So many connect at a time: more would keep a busy machine, and a control plane, waiting for their ACKs. */
const groupSize = 10

const connect = async ({ port, count, variant }) => {
  streams = []
  while (streams.length < count) {
    const size = Math.min(groupSize, count - streams.length)
    const group = Array.from({ length: size }, () => ({
      isSynced: false,
      received: nothingReceived(),
    }))
    for (const [i, stream] of group.entries())
      openEnvoy(
        port,
        { id: `bench-${streams.length + i}`, variant },
        {
          onResponse: (type, bytes) => receive(stream, type, bytes),
          onSynced: () => {
            stream.isSynced = true
          },
        },
      )
    streams = [...streams, ...group]
    await until(() => group.every(({ isSynced }) => isSynced))
  }
  return totals()
}

/** A marker is a text that some response of its type will hold, if the change that it stands for has come. */
const expect = ({ markers }) => {
  for (const stream of streams) stream.received = nothingReceived(markers)
  return {}
}

const arrived = async () => {
  await until(() => streams.every(({ received }) => received.missing.size === 0))
  return totals()
}

/** The bytes of all streams, and for each type the most responses that one of them has had. */
const totals = () => {
  const responses = {}
  for (const { received } of streams)
    for (const [type, count] of Object.entries(received.responses))
      responses[type] = Math.max(responses[type] ?? 0, count)
  return { bytes: streams.reduce((sum, { received }) => sum + received.bytes, 0), responses }
}

const commands = { connect, expect, arrived, totals }

say({})
await answerLines(({ cmd, ...args }) => commands[cmd](args))
process.exit() // stdin has ended: nobody asks any more
