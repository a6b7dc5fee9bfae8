import type { Entry } from './history.js'

/** The time in which one object has one prefix: what a client asks for by that prefix is its alone. */
export interface Tenure {
  readonly uid: string
  readonly prefix: string
  readonly publishedMs: number
  /** When its removal, or the change of its prefix, was published; infinite where neither was. */
  readonly endedMs: number
  readonly forms: ReadonlyArray<FormTimes>
  /** Since when each Envoy has it in one form or another. */
  readonly programmedMs: ReadonlyMap<string, number>
  /** Since when each Envoy has ACKed that it is no more. */
  readonly goneMs: ReadonlyMap<string, number>
}

export interface FormTimes {
  readonly generation: number
  readonly backends: ReadonlyArray<string>
  readonly publishedMs: number
  /** Since when each Envoy has this very form. */
  readonly programmedMs: ReadonlyMap<string, number>
  /** Since when each Envoy has a later one in its place. */
  readonly supersededMs: ReadonlyMap<string, number>
}

/** The tenures of a history by their prefixes. Throws where two have one prefix. */
export const tenuresOf = (entries: Iterable<Entry>): ReadonlyMap<string, Tenure> => {
  const byPrefix = new Map<string, Draft>()
  const byUid = new Map<string, Array<Draft>>()
  for (const entry of entries)
    switch (entry._tag) {
      case 'Published': {
        const drafts = byUid.get(entry.uid) ?? []
        byUid.set(entry.uid, drafts)
        const draft = draftFor(entry, drafts, byPrefix)
        draft.forms.push({ ...entry, programmedMs: new Map(), supersededMs: new Map() })
        break
      }
      case 'Withdrawn':
        end(byUid.get(entry.uid)?.at(-1), entry.atMs)
        break
      case 'Programmed':
        for (const draft of byUid.get(entry.uid) ?? []) program(draft, entry)
        break
      case 'Gone':
        for (const { goneMs } of byUid.get(entry.uid) ?? [])
          setOnce(goneMs, entry.envoy, entry.atMs)
        break
      case 'Answered':
        break
    }
  return new Map(
    [...byPrefix].map(([prefix, draft]) => [
      prefix,
      { ...draft, forms: draft.forms.map((form) => ({ ...form, publishedMs: form.atMs })) },
    ]),
  )
}

interface Draft {
  readonly uid: string
  readonly prefix: string
  readonly publishedMs: number
  endedMs: number
  readonly forms: Array<FormDraft>
  readonly programmedMs: Map<string, number>
  readonly goneMs: Map<string, number>
}

interface FormDraft {
  readonly atMs: number
  readonly generation: number
  readonly backends: ReadonlyArray<string>
  readonly programmedMs: Map<string, number>
  readonly supersededMs: Map<string, number>
}

const draftFor = (
  { uid, prefix, atMs }: Extract<Entry, { readonly _tag: 'Published' }>,
  drafts: Array<Draft>,
  byPrefix: Map<string, Draft>,
): Draft => {
  const last = drafts.at(-1)
  if (last?.prefix === prefix) return last
  if (byPrefix.has(prefix)) throw new Error(`prefix ${prefix} is used a second time`)
  end(last, atMs)
  const draft: Draft = {
    uid,
    prefix,
    publishedMs: atMs,
    endedMs: Infinity,
    forms: [],
    programmedMs: new Map(),
    goneMs: new Map(),
  }
  drafts.push(draft)
  byPrefix.set(prefix, draft)
  return draft
}

const end = (draft: Draft | undefined, atMs: number): void => {
  if (draft !== undefined) draft.endedMs = atMs
}

const program = (
  { forms, programmedMs, goneMs }: Draft,
  { envoy, generation, atMs }: Extract<Entry, { readonly _tag: 'Programmed' }>,
): void => {
  for (const form of forms) {
    if (form.generation < generation) setOnce(form.supersededMs, envoy, atMs)
    if (form.generation !== generation) continue
    setOnce(form.programmedMs, envoy, atMs)
    setOnce(programmedMs, envoy, atMs)
  }
  if (forms.every((form) => form.generation < generation)) setOnce(goneMs, envoy, atMs)
}

const setOnce = (times: Map<string, number>, envoy: string, atMs: number): void => {
  if (!times.has(envoy)) times.set(envoy, atMs)
}
