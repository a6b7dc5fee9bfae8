import { isDeepStrictEqual } from 'node:util'
import * as E from 'fp-ts/lib/Either.js'
import { showKey } from '../../../core/edge-route.js'
import type { EndpointSlice, Service } from '../../../core/context.js'
import type { FieldError } from '../../../core/field-error.js'
import { decodeEndpointSlice, decodeService } from '../../../core/kubernetes.js'
import type { SourceBackends, SourceProblem } from '../../../ports/route-source.js'
import { objectIn, type Project, type Reflected, textIn } from '../informers/index.js'

/** What an object is to those who send requests to it. */
export interface SeenBackend<A> {
  /** The last form that was valid. */
  readonly form: A | undefined
  readonly problem: SourceProblem | undefined
}

type Decode<A> = (json: unknown) => E.Either<ReadonlyArray<FieldError>, A>

/**
 * Reads an object; `before` is what the same object, by its uid, was. One that is invalid keeps the last valid form.
 * What has not changed stays the same object, whatever of its metadata has.
 */
const see =
  <A>(kind: string, decode: Decode<A>): Project<SeenBackend<A>> =>
  (object, before) => {
    const decoded = decode(object)
    const seen = E.isRight(decoded)
      ? { form: decoded.right, problem: undefined }
      : { form: before?.form, problem: problemOf(kind, object, decoded.left, before) }
    if (isDeepStrictEqual(seen, before)) return before
    return isDeepStrictEqual(seen.form, before?.form) ? { ...seen, form: before?.form } : seen
  }

const problemOf = (
  kind: string,
  object: Parameters<Project<never>>[0],
  errors: ReadonlyArray<FieldError>,
  before: SeenBackend<unknown> | undefined,
): SourceProblem => {
  const metadata = objectIn(object, 'metadata')
  const [namespace = '', name = ''] = [textIn(metadata, 'namespace'), textIn(metadata, 'name')]
  return {
    where: `${kind} ${showKey({ namespace, name })}`,
    // It is no route, though one may have its name.
    key: undefined,
    errors,
    keepsLastGood: before?.form !== undefined,
  }
}

export const seeService: Project<SeenBackend<Service>> = see('Service', decodeService)

export const seeEndpointSlice: Project<SeenBackend<EndpointSlice>> = see(
  'EndpointSlice',
  decodeEndpointSlice,
)

/** Services and their slices, and what is wrong with them. */
export interface BackendsView {
  readonly backends: SourceBackends
  readonly problems: ReadonlyArray<SourceProblem>
}

export const noBackends: BackendsView = {
  backends: { services: [], endpointSlices: [] },
  problems: [],
}

/** What is seen of these objects, made of the same parts as before where these are equal. Costs O(n). */
export const viewOf = (
  before: BackendsView,
  services: Iterable<Reflected<SeenBackend<Service>>>,
  slices: Iterable<Reflected<SeenBackend<EndpointSlice>>>,
): BackendsView => {
  const problems: Array<SourceProblem> = []
  const next = {
    services: reuse(before.backends.services, formsOf(services, problems)),
    endpointSlices: reuse(before.backends.endpointSlices, formsOf(slices, problems)),
  }
  const isSame =
    next.services === before.backends.services &&
    next.endpointSlices === before.backends.endpointSlices
  const view = {
    backends: isSame ? before.backends : next,
    problems: reuse(before.problems, problems),
  }
  return isSame && view.problems === before.problems ? before : view
}

/** The forms of all that have one; tells of the problems on the way. */
const formsOf = <A>(
  seen: Iterable<Reflected<SeenBackend<A>>>,
  problems: Array<SourceProblem>,
): ReadonlyArray<A> => {
  const forms: Array<A> = []
  for (const { value } of seen) {
    if (value.form !== undefined) forms.push(value.form)
    if (value.problem !== undefined) problems.push(value.problem)
  }
  return forms
}

const reuse = <A>(before: ReadonlyArray<A>, now: ReadonlyArray<A>): ReadonlyArray<A> =>
  before.length === now.length && before.every((item, i) => item === now[i]) ? before : now
