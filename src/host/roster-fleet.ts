import type { NodeMemory } from '../core/xds/node-memory.js'
import type { DeletionProof } from '../ports/deletion-proof.js'

/** The fleet whose roster is kept. */
export interface RosterFleet extends Pick<DeletionProof, 'admit' | 'forget'> {
  /** What is remembered of all nodes, those that are connected included. */
  readonly memory: () => ReadonlyMap<string, NodeMemory>
}

/** The way to a fleet that may not be there yet: its server may hear Envoys before its start has returned. */
export interface FleetDoor extends RosterFleet {
  /** Opens the way. Ids that had to wait for this are admitted now. */
  readonly attach: (fleet: RosterFleet) => void
  readonly isAttached: () => boolean
}

export const doorToFleet = (): FleetDoor => {
  const waiting = new Set<string>()
  let fleet: RosterFleet | undefined
  return {
    attach: (to) => {
      fleet = to
      for (const id of waiting) to.admit(id)
      waiting.clear()
    },
    isAttached: () => fleet !== undefined,
    admit: (id) => {
      if (fleet === undefined) waiting.add(id)
      else fleet.admit(id)
    },
    forget: (id) => fleet?.forget(id) ?? 'Unknown',
    memory: () => fleet?.memory() ?? new Map(),
  }
}
