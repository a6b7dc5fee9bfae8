/*
 * The bounds of one EdgeRoute: what the codec refuses beyond them, the schema of the CustomResourceDefinition
 * refuses too.
 */

/** In hostnames: Envoy keeps each in the hash of its virtual hosts; a route of more names wants a wildcard. */
export const maxHostnames = 64

/**
 * The most claims of one object: hostnames times matches times methods. Each is a Route in Envoy's
 * tables, and all objects share those.
 */
export const maxClaims = 4096

/** In matches: each is at least one route in each virtual host of Envoy. */
export const maxMatches = 64

/** In methods: all that are registered are about 40; a route that names more wants every method. */
export const maxMethods = 16

/** In headers, or in query parameters, of one match: Envoy asks them one after the other, for each request. */
export const maxPredicates = 16

/** In backends: Envoy keeps a cluster for each. */
export const maxBackends = 64

/** Of one backend: Envoy sums the weights of a route in 32 bits, and 64 of these are far below. */
export const maxWeight = 1_000_000

/** In tries: each one may be a whole timeout's worth of load on a backend that is in trouble already. */
export const maxAttempts = 10

/** In headers that are set, added or removed: applied one after the other, for each request. */
export const maxHeaderChanges = 64

/** RFC 1035: a label of a DNS name, in characters. */
export const maxLabelLength = 63

/** RFC 1035: a DNS name in text, in characters. */
export const maxNameLength = 253

/** RFC 6335: a service name, as Kubernetes takes it for the name of a port, in characters. */
export const maxPortNameLength = 15

/** The longest path, in characters: what common servers still take in a request line. */
export const maxPathLength = 1024

/** The longest name of a header, in characters: longer ones are no names. */
export const maxHeaderNameLength = 256

/** The longest value that a match compares with, in characters: a request's headers have 60 KiB in all. */
export const maxMatchValueLength = 4096

/** Envoy's bound on the name of a query parameter in a match, in bytes. */
export const maxQueryNameBytes = 1024

/** Envoy's bound on the value of a header that it sets, in bytes. */
export const maxHeaderValueBytes = 16_384

/** Envoy's default `max_direct_response_body_size_bytes`. */
export const maxBodyBytes = 4096

/** The longest method, in characters: the longest that is registered has 17. */
export const maxMethodLength = 32
