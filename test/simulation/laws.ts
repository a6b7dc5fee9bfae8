/** The laws that hold after each step. */
export type Law =
  /** No route that an Envoy serves names a cluster that it lacks. */
  | 'NoDanglingCluster'
  /** Our finalizer stays as long as any Envoy may serve the object. */
  | 'GoneBeforeReleased'
  /** What was released is never served again. */
  | 'GoneForEver'
  /** Only what is being deleted is released. */
  | 'OnlyTheDeleted'
  /** What enters service was seen with our finalizer. */
  | 'FinalizerFirst'
  /** What is being deleted, or is gone, is not published. */
  | 'NothingDeletedPublished'
  /** What others have written on an object stays there. */
  | 'OthersUntouched'
  /** What is there is not taken away, all at once, because nobody has said so for a while. */
  | 'NothingLiveWithdrawn'
  /** Route tables go to nodes that are on the roster; nothing is released while one of them is not. */
  | 'RosterFirst'
  /** What was accepted is not sent again without a reason, and no message brings forth messages for ever. */
  | 'NothingSentAgain'
  /** No write leaves an object as it is. */
  | 'NoIdleWrite'
  /** Once faults end, all is as it should be. */
  | 'Convergence'
  /** Nothing in the control plane throws. */
  | 'NoFault'

export interface Violation {
  readonly law: Law
  readonly message: string
}
