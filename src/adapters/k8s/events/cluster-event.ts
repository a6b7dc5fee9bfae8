/** Something that people who look at an object in a cluster are told (`kubectl events`). */
export interface ClusterEvent {
  /** What it is about; the event is kept in the same namespace. */
  readonly regarding: {
    readonly apiVersion: string
    readonly kind: string
    readonly namespace: string
    readonly name: string
    readonly uid?: string
  }
  readonly type: 'Normal' | 'Warning'
  /** Why, in one word in CamelCase, for programs; at most 128 characters. */
  readonly reason: string
  /** What was done, in one word in CamelCase; at most 128 characters. */
  readonly action: string
  /** A sentence for people; what is beyond 1,024 bytes is cut. */
  readonly note: string
}
