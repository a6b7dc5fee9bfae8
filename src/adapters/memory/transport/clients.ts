import type { StreamId } from '../../../core/xds/fleet.js'
import type { Clock } from '../../../ports/clock.js'
import { nextTimer } from '../envoy/client/index.js'
import type { EnvoyEvent } from '../envoy/client/messages.js'
import type { EnvoyCell } from './envoy.js'
import type { Queues } from './queues.js'

/** The Envoys at their ends of the streams. */
export interface Clients {
  /** An Envoy has this stream from now on. */
  readonly take: (stream: StreamId, envoy: EnvoyCell) => void
  /** What the Envoy of a stream hears; what it sends then is on its way. No matter if there is none. */
  readonly tell: (stream: StreamId, event: EnvoyEvent) => void
  /** The stream is over, and what is on its way is lost. */
  readonly leave: (stream: StreamId) => void
}

/** Envoys hear of time before anything else that they hear, and when they wait for it. */
export const makeClients = (queues: Queues, clock: Clock): Clients => {
  const envoys = new Map<StreamId, EnvoyCell>()
  const wakers = new Map<StreamId, () => void>()
  const cancelWaker = (stream: StreamId): void => {
    wakers.get(stream)?.()
    wakers.delete(stream)
  }
  const tell = (stream: StreamId, event: EnvoyEvent): void => {
    const envoy = envoys.get(stream)
    if (envoy === undefined) return
    const time: EnvoyEvent = { _tag: 'TimePassed', nowMs: clock.nowMs() }
    for (const each of event._tag === 'TimePassed' ? [time] : [time, event])
      for (const request of envoy.handle(each)) queues.put({ _tag: 'Request', stream, request })
    cancelWaker(stream)
    const due = nextTimer(envoy.state())
    if (due !== undefined)
      wakers.set(
        stream,
        clock.after(due - clock.nowMs(), () => tell(stream, time)),
      )
  }
  const leave = (stream: StreamId): void => {
    tell(stream, { _tag: 'Disconnected' })
    cancelWaker(stream)
    envoys.delete(stream)
    queues.drop(stream)
  }
  return { take: (stream, envoy) => void envoys.set(stream, envoy), tell, leave }
}
