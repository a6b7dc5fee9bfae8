/** Why a node that is connected is not forgotten, for people. */
export const connectedRefusal: string =
  'it is connected: only what it says itself shows what it serves. ' +
  'End its process first, or wait for its answer'

/** Why one that nobody knows is not forgotten. */
export const unknownRefusal: string = 'no node has this id'
