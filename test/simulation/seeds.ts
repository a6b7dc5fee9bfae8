/** For each planted bug a seed that shows it; written by `node tools/simulate.mjs --record`. */
export const seeds: Readonly<Record<string, number>> = {
  'releases-on-publish': 1,
  'releases-on-the-first-ack': 3,
  'takes-the-ack-of-another-type': 1,
  'forgets-what-is-on-its-way': 215,
  'forgets-a-lost-node-at-once': 7,
  'takes-two-of-one-id-for-one': 55,
  'takes-everyone-for-fresh': 541,
  'goes-by-names-in-place-of-uids': 1,
  'serves-before-the-finalizer': 1,
  'does-not-settle': 1,
  'admits-before-the-roster-is-written': 408,
  'releases-before-the-roster-is-written': 204,
  'does-not-wait-after-a-start': 99,
  'starts-with-an-empty-roster': 11,
}
