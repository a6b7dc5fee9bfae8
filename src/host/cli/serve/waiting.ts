import { shellWord, showName } from '../admin/words.js'
import type { LeaseFact } from '../peers.js'

/** Why a control plane serves nobody yet, as far as its Lease tells: for whoever asks it meanwhile. */
export interface Waiting {
  /** Takes what becomes of the Lease. */
  readonly hear: (fact: LeaseFact) => void
  /** For people, and what to do; `undefined` while the Lease is held, or nothing is known of it yet. */
  readonly why: () => string | undefined
}

/** Nothing is known yet of the Lease in a namespace. */
export const openWaiting = (namespace: string): Waiting => {
  let why: string | undefined
  return {
    hear: (fact) => {
      why = whyAfter(fact, namespace)
    },
    why: () => why,
  }
}

const whyAfter = (fact: LeaseFact, namespace: string): string | undefined => {
  const waits = `this control plane serves no Envoys: it waits for the Lease in the namespace ${showName(namespace)}`
  const command = `--kubernetes --own-namespace ${shellWord(namespace)}`
  switch (fact._tag) {
    case 'Waiting':
    case 'Lost':
      return fact.holder === ''
        ? `${waits}, which nobody has any more: ask again in a moment`
        : `${waits}, which ${showName(fact.holder)} has. Ask that one, or the API server: ${command}`
    case 'Failing':
      return `${waits}, and whose it is cannot be told: ${fact.message}`
    case 'Acquired':
    case 'Recovered':
      return undefined
  }
}
