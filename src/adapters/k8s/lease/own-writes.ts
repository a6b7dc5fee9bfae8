import type { LeaseClaim, LeaseRecord, SeenLease } from './record.js'

/** What one process has written into a lease, and what not. */
export interface OwnWrites {
  /** To be told of each before it is sent: whether it arrives is not always known. */
  readonly sent: (record: LeaseClaim) => void
  /** Whether this process has written that. */
  readonly isOwn: (record: LeaseRecord) => boolean
  /** What was read, as a contender is to see it: what another process has written is another's, whatever its name. */
  readonly read: (seen: SeenLease | undefined) => SeenLease | undefined
}

/** How many are remembered: what a lease says is the last one that is known of, or one that was sent since. */
const maxRemembered = 8

/**
 * Tells what this process has written from what another has that is called the same: each says when. Until it has sent
 * anything all that has its name is its own, of a former life.
 */
export const ownWrites = (identity: string): OwnWrites => {
  let times: ReadonlyArray<string> = []
  const remember = ({ renewedAt }: LeaseClaim): void => {
    times = [renewedAt, ...times.filter((each) => each !== renewedAt)].slice(0, maxRemembered)
  }
  const isOwn = ({ holder, renewedAt }: LeaseRecord): boolean =>
    holder === identity && times.includes(renewedAt)
  return {
    sent: remember,
    isOwn,
    read: (seen) => {
      if (seen?.record.holder !== identity || times.length === 0) return seen
      if (!isOwn(seen.record))
        return { ...seen, record: { ...seen.record, holder: another(identity) } }
      remember(seen.record)
      return seen
    },
  }
}

/** For people. */
const another = (identity: string): string => `${identity} (another process)`
