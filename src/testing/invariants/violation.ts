/** What must be so, whatever routes, Envoys and orders of events there are. */
export type Law =
  /** Every cluster that a route of an Envoy names is there. */
  | 'KnownClusters'
  /** An Envoy answers what the snapshot says. */
  | 'AnswersAsTranslated'
  /** No Envoy serves what is gone. */
  | 'NotServed'
  /** Whatever a snapshot refers to stands in it. */
  | 'Closed'
  /** Equal routes give equal bytes and versions. */
  | 'Repeatable'
  /** The order of the routes says nothing. */
  | 'OrderFree'
  /** Nothing of an object that is being deleted stands in a snapshot. */
  | 'NothingTerminating'
  /** Every route serves all that it asks for. */
  | 'NothingRefused'
  /** A finalizer stays for as long as any Envoy may serve the object. */
  | 'GoneBeforeReleased'
  /** A finalizer is taken off no object but one that is being deleted. */
  | 'OnlyTheDeleted'
  /** An object is served only once it had the finalizer. */
  | 'FinalizerFirst'

/** A law that was broken: plain data, so that `expect(violations).toEqual([])` shows what is wrong. */
export interface Violation {
  readonly law: Law
  /** For people: who, what, and where. */
  readonly message: string
}
