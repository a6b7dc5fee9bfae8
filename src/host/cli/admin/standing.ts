import type { ConditionDocument } from '../../admin/document.js'
import { printable } from './words.js'

/**
 * How a route stands that nobody deletes, as its conditions say, in words that follow on its name: the first thing that
 * somebody on call wants to know.
 */
export const standingWords = (conditions: ReadonlyArray<ConditionDocument>): string => {
  const accepted = conditions.find(({ type }) => type === 'Accepted')
  if (accepted === undefined) return 'is there, and nothing is said of it yet'
  const isPart = accepted.reason === partly
  if (accepted.status === 'False' && !isPart)
    return `is not accepted, and not served: ${saying(accepted)}`
  const programmed = conditions.find(({ type }) => type === 'Programmed')
  const isOld =
    programmed !== undefined && programmed.observedGeneration < accepted.observedGeneration
  return [
    isOld ? oldWords(programmed) : servedWords(programmed),
    ...(isPart ? [`, save what another route has claimed (${partly})`] : []),
    ...backendWords(conditions),
  ].join('')
}

/** It keeps some of its claims. */
const partly = 'PartiallyConflicted'

const servedWords = (programmed: ConditionDocument | undefined): string => {
  if (programmed === undefined) return 'is accepted, and nothing is known of its Envoys yet'
  if (programmed.status === 'True') return 'is served everywhere'
  switch (programmed.reason) {
    case 'Pending':
      return `waits for Envoys: ${saying(programmed)}`
    case 'Lagging':
      return `waits for Envoys that are behind: ${saying(programmed)}`
    case 'NoEnvoy':
      return `is served nowhere: ${saying(programmed)}`
    default:
      return `is not served everywhere: ${saying(programmed)}`
  }
}

/** What is said of the form before goes on to be said for a while. */
const oldWords = (programmed: ConditionDocument): string =>
  programmed.status === 'True'
    ? 'is served everywhere in its last form, and the present one is on its way'
    : `${servedWords(programmed)}; so it was with its last form, and the present one is on its way`

const backendWords = (conditions: ReadonlyArray<ConditionDocument>): ReadonlyArray<string> => {
  const refs = conditions.find(({ type }) => type === 'ResolvedRefs')
  return refs?.status === 'False'
    ? [`, and a backend leads nowhere (${printable(refs.reason)})`]
    : []
}

/** What it says, or its word for programs where that is all. */
const saying = ({ reason, message }: ConditionDocument): string =>
  printable(message === '' ? reason : message)
