/** The bounds of the admin endpoint towards its clients. */
export interface AdminLimits {
  /** Connections at a time; one more is closed at once. */
  readonly maxConnections: number
  /** The request line and the headers together, in bytes. */
  readonly maxHeaderBytes: number
  readonly maxBodyBytes: number
  /** Milliseconds from the beginning of a connection to the end of its request. */
  readonly requestTimeoutMs: number
  /** Milliseconds that the control plane may take to do what it was told. */
  readonly operatorTimeoutMs: number
  /** Milliseconds that a connection may last in all, the reading of the answer among them. */
  readonly connectionTimeoutMs: number
  /** Milliseconds that a stop waits for what is being done. */
  readonly stopGraceMs: number
}

export const defaultAdminLimits: AdminLimits = {
  // A few people and scripts. Each may hold an answer of some megabytes in memory.
  maxConnections: 16,
  // The id of a node in the path, of up to 1,000 characters of which each takes nine when it is encoded.
  maxHeaderBytes: 16 * 1024,
  // The uids of the objects of one name, 40 bytes each.
  maxBodyBytes: 16 * 1024,
  // A request on this machine takes a millisecond.
  requestTimeoutMs: 5_000,
  // A write to an API server that is slow, and is tried again after a conflict.
  operatorTimeoutMs: 30_000,
  // The two above, and as much again to read some megabytes over a forwarded port.
  connectionTimeoutMs: 70_000,
  // As long as a write takes as a rule; the command line ends the process after 2 s.
  stopGraceMs: 1_000,
}
