/**
 * An address that nobody else of this test file has, and that an API server takes as an endpoint. Can be listened on
 * and dialled at once.
 */
export const freshAddress = (): string => {
  count += 1
  if (count > maxAddresses) throw new Error('there are no more addresses')
  return `10.77.${1 + Math.floor(count / 254)}.${1 + (count % 254)}`
}
let count = 0

/** 10.77.1.1 to 10.77.254.254, less the few of the last step. */
const maxAddresses = 64_000
