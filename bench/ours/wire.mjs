import { setImmediate as nextTurn } from 'node:timers/promises'

/** Counts what goes over the open streams of the type that a change leads to, as bench/peer/wire.go does. */
export const startWire = () => {
  let [streams, typeUrl, sent, acked] = [0, '', 0, 0]
  let check = () => undefined
  const until = (holds) =>
    new Promise((resolve) => {
      check = () => {
        if (holds()) resolve()
      }
      check()
    })
  return {
    observer: (event) => {
      if (event._tag === 'StreamOpened') streams += 1
      if (event._tag === 'StreamClosed') streams -= 1
      if (event._tag === 'ResponseNacked') refused(event.error)
      if (event.typeUrl !== typeUrl) return
      if (event._tag === 'ResponseSent') sent += 1
      if (event._tag === 'ResponseAcked') acked += 1
      check()
    },
    /** Begins to count responses of a type, and their ACKs. */
    expect: (type) => {
      typeUrl = type
      sent = 0
      acked = 0
    },
    /** Resolves when each stream was sent one, and Node has given it to the socket. */
    untilSent: async () => {
      await until(() => sent >= streams)
      await nextTurn()
    },
    /** Resolves when each stream has accepted one. */
    untilAcked: () => until(() => acked >= streams),
  }
}

/** Nothing that is measured after that would mean anything. */
const refused = ({ message }) => {
  console.error(`An Envoy has refused what it was sent: ${message}`)
  process.exit(1)
}
