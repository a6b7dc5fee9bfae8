import type * as E from 'fp-ts/lib/Either.js'
import type { SourceError } from '../../../ports/route-source.js'
import {
  type Change,
  type InformerOptions,
  type InformerTrouble,
  type Kind,
  objectIn,
  pathOf,
  pods,
  startInformer,
  textIn,
} from '../informers/index.js'
import { type PodRef } from './pod-of.js'
import { seePod, type SeenPod } from './pod-view.js'

/** The Pods of one namespace that somebody asks about. */
export interface NamespacePods {
  /** Asks about these and no others, by name. */
  readonly askAbout: (names: ReadonlySet<string>) => void
  /** Whether a Pod that is asked about seems to be gone, or to run no more: as far as is known. */
  readonly isSuspect: (pod: PodRef) => boolean
  readonly stop: () => void
}

export interface NamespacePodsHandlers {
  readonly onNews: () => void
  readonly onTroubles: (troubles: ReadonlyArray<InformerTrouble>) => void
  readonly onEnd: (result: E.Either<SourceError, void>) => void
}

/** A group is one Pod: `namespace/name`. */
const onePod: Kind = {
  ...pods,
  grouping: {
    groupOf: (object) => {
      const metadata = objectIn(object, 'metadata')
      const [namespace, name] = [textIn(metadata, 'namespace'), textIn(metadata, 'name')]
      return namespace === undefined || name === undefined ? undefined : `${namespace}/${name}`
    },
    requestOf: (group) => {
      const [namespace = '', name = ''] = group.split('/')
      return { path: pathOf(pods, namespace), query: { fieldSelector: `metadata.name=${name}` } }
    },
  },
}

/** Follows the Pods of a namespace until it is stopped, and keeps nothing of those that nobody asks about. */
export const followPods = (
  options: Pick<InformerOptions<SeenPod>, 'client' | 'clock' | 'random'>,
  namespace: string,
  names: ReadonlySet<string>,
  { onNews, onTroubles, onEnd }: NamespacePodsHandlers,
): NamespacePods => {
  const over = new AbortController()
  const seen = new Map<string, SeenPod>()
  const groupOf = (name: string): string => `${namespace}/${name}`
  let asked = names
  const groups = [...names].map(groupOf)
  const informer = startInformer<SeenPod>(
    { ...options, kind: onePod, namespaces: [namespace], project: seePod, groups },
    {
      onChanges: (changes) => {
        note(seen, changes)
        onNews()
      },
      onTroubles,
    },
    over.signal,
  )
  void informer.finished.then(onEnd)
  return {
    askAbout: (next) => {
      const [add, remove] = [without(next, asked).map(groupOf), without(asked, next).map(groupOf)]
      asked = next
      if (add.length + remove.length > 0) informer.select({ add, remove })
    },
    isSuspect: ({ name, uid }) => {
      if (!informer.isKnown(groupOf(name))) return false
      const pod = seen.get(groupOf(name))
      return pod?.uid !== uid || pod.finished !== undefined
    },
    stop: () => over.abort(),
  }
}

const note = (seen: Map<string, SeenPod>, changes: ReadonlyArray<Change<SeenPod>>): void => {
  for (const { _tag, object } of changes)
    if (_tag === 'Deleted') seen.delete(object.name)
    else seen.set(object.name, object.value)
}

const without = (all: ReadonlySet<string>, others: ReadonlySet<string>): ReadonlyArray<string> =>
  [...all].filter((each) => !others.has(each))
