import { createHash } from 'node:crypto'
import * as PM from '../../../src/core/persistent-map.js'
import { encodeContent } from '../../../src/core/resource.js'
import { type Snapshot, type View, versionOf } from '../../../src/core/snapshot.js'
import type { Translation } from '../../../src/core/translate.js'
import { typeUrls } from '../../../src/core/type-url.js'

/** Every version and every byte of a snapshot as text, in order: equal texts, equal snapshots. */
export const contentOf = ({ dataPlanes }: Snapshot): string =>
  [...dataPlanes].map(([name, view]) => `data plane ${name}\n${viewContent(view)}`).join('\n')

const viewContent = (view: View): string =>
  typeUrls
    .flatMap((typeUrl) => [
      `  ${typeUrl} ${versionOf(view[typeUrl])}`,
      ...[...PM.entries(view[typeUrl])].map(({ name, version, content, refs, owners }) => {
        const bytes = Buffer.from(encodeContent(content)).toString('hex')
        return `    ${name} ${version} ${bytes} ${JSON.stringify([refs, owners])}`
      }),
    ])
    .join('\n')

/** The verdicts as text, in their order. */
export const verdictText = ({ verdicts }: Translation): string => JSON.stringify([...verdicts])

/** What `translate-child.mjs` makes of the same input, in another process. */
export const fingerprint = (translation: Translation): string =>
  createHash('sha256')
    .update(contentOf(translation.snapshot))
    .update(verdictText(translation))
    .digest('hex')
