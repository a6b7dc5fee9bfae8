import { edgeRouteDefinition } from '../../../src/core/crd.js'
import { celRulesOf } from './cel-rules.js'
import { type Complaint, structureOf } from './structure.js'

/** What an API server that has the definition of EdgeRoute would say of a spec. */
export interface Admission {
  /** As it would be stored. */
  readonly spec: unknown
  /** Empty if it takes it. Rules are asked only of what has the right structure. */
  readonly complaints: ReadonlyArray<Complaint>
}

const [version] = edgeRouteDefinition().spec.versions
if (version === undefined) throw new Error('the definition has no version')

/** The schema of an EdgeRoute as it stands in its definition. */
export const objectSchema = version.schema.openAPIV3Schema

const structure = structureOf(objectSchema)
const rules = celRulesOf(objectSchema)

/** Asks whether an API server would take a new object with this spec. */
export const admitNew = (spec: unknown): Admission => admit(spec, undefined)

/** Asks whether it would take the spec in place of that of an object that it has. */
export const admitChange = (before: unknown, after: unknown): Admission =>
  admit(after, structure(envelope(before)).value)

const admit = (spec: unknown, old: unknown): Admission => {
  const { value, complaints } = structure(envelope(spec))
  return {
    spec: Reflect.get(Object(value), 'spec'),
    complaints: complaints.length > 0 ? complaints : rules(value, old),
  }
}

const envelope = (spec: unknown): object => ({
  apiVersion: 'net.10xdev.io/v1',
  kind: 'EdgeRoute',
  metadata: {},
  spec,
})
