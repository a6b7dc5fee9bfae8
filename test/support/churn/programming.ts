import type { Entry } from './history.js'
import type { Form } from './plan.js'
import type { Proofs } from './proofs.js'

/** Notes when each Envoy has proven each change. */
export interface Programming {
  /** To be called when a change was published: of an older one of the same object nothing more is noted. */
  readonly expect: (change: Change) => void
  /** Looks for new proofs. */
  readonly look: () => void
  /** What is still without a proof, in words. */
  readonly open: () => ReadonlyArray<string>
}

export type Change =
  | { readonly _tag: 'Formed'; readonly form: Form }
  | { readonly _tag: 'Removed'; readonly form: Form }

export const watchProgramming = (
  proofs: () => Proofs,
  envoys: ReadonlyArray<string>,
  now: () => number,
  record: (entry: Entry) => void,
): Programming => {
  const open = new Map<string, { readonly envoy: string; readonly change: Change }>()
  return {
    expect: (change) => {
      for (const envoy of envoys) open.set(`${envoy} ${change.form.uid}`, { envoy, change })
    },
    look: () => {
      const atMs = now()
      const { isProgrammed, isGone } = proofs()
      for (const [key, { envoy, change }] of open) {
        const { uid, generation } = change.form
        const isFormed = change._tag === 'Formed'
        if (!(isFormed ? isProgrammed(envoy, uid) : isGone(envoy, uid))) continue
        open.delete(key)
        record(
          isFormed
            ? { _tag: 'Programmed', atMs, envoy, uid, generation }
            : { _tag: 'Gone', atMs, envoy, uid },
        )
      }
    },
    open: () =>
      [...open.values()].map(
        ({ envoy, change }) => `${envoy}: ${change.form.uid} is not proven ${change._tag}`,
      ),
  }
}
