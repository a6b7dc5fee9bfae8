/**
 * How many requests of one client are under way at once, each on a connection of its own; further
 * ones wait for one of these. With as many, an API server on two cores does some 500 writes a
 * second (measured), and is busy with them.
 */
export const maxConnections = 16

/**
 * How many vital requests of one client are under way at once, beside the others: a roster has four, and a Lease one.
 */
export const maxVitalConnections = 6

/**
 * How many streams are open at once, each on a connection of its own: four kinds in 64 namespaces.
 */
export const maxStreams = 256

/** How many connections whose streams have ended are kept for the next ones. */
export const maxIdleStreams = 8

/**
 * How long an unused connection is kept, in milliseconds. API servers close theirs after 90 s, and
 * load balancers often after 60 s: whoever closes first never sends a request into a connection
 * that is about to end.
 */
export const idleMs = 50_000

/**
 * After how long without traffic the kernel asks whether the other side is there, in milliseconds;
 * dead 10 s later.
 */
export const tcpKeepAliveMs = 30_000

/** The longest reply that is read into memory, in bytes: some 100,000 routes in one page. */
export const maxBodyBytes: number = 256 * 2 ** 20

/**
 * The longest line of a stream, in bytes. etcd takes no object of more than 1.5 MiB; in JSON it may
 * be a few times that.
 */
export const maxLineBytes: number = 16 * 2 ** 20

/**
 * How long a token that was read from its file is used before the file is looked at again, in
 * milliseconds. (A kubelet writes a new one at 80 % of the old one's life, of ten minutes at least:
 * this is for whoever rotates faster.)
 */
export const tokenFileMs = 5_000

/**
 * The same for all other credentials, in milliseconds: those that are programs may take a second
 * each time.
 */
export const credentialsMs = 60_000

/**
 * How often credentials that are no file are asked for because they were refused, in milliseconds.
 */
export const minRenewalMs = 5_000

/** How long a program that gives credentials may take, in milliseconds; then it is asked anew. */
export const maxAskMs = 30_000
