// Translates in a process of its own, with the built package: one line in, `[routes, context]` as
// `v8.serialize` writes it, in base64; one line out, the fingerprint of every byte, version and verdict
// as `oracle/content.ts` takes it.
import { createHash } from 'node:crypto'
import { createInterface } from 'node:readline'
import { deserialize } from 'node:v8'
import * as PM from '../../dist/core/persistent-map.js'
import { encodeContent } from '../../dist/core/resource.js'
import { versionOf } from '../../dist/core/snapshot.js'
import { translate } from '../../dist/core/translate.js'
import { typeUrls } from '../../dist/core/type-url.js'

const contentOf = ({ dataPlanes }) =>
  [...dataPlanes].map(([name, view]) => `data plane ${name}\n${viewContent(view)}`).join('\n')

const viewContent = (view) =>
  typeUrls
    .flatMap((typeUrl) => [
      `  ${typeUrl} ${versionOf(view[typeUrl])}`,
      ...[...PM.entries(view[typeUrl])].map(({ name, version, content, refs, owners }) => {
        const bytes = Buffer.from(encodeContent(content)).toString('hex')
        return `    ${name} ${version} ${bytes} ${JSON.stringify([refs, owners])}`
      }),
    ])
    .join('\n')

for await (const line of createInterface({ input: process.stdin })) {
  const { snapshot, verdicts } = translate(...deserialize(Buffer.from(line, 'base64')))
  const hash = createHash('sha256')
    .update(contentOf(snapshot))
    .update(JSON.stringify([...verdicts]))
  process.stdout.write(`${hash.digest('hex')}\n`)
}
